/**
 * The first import of every program. It makes stacks name the lines of src instead of the built files. Node reads the maps
 * only of modules that are loaded after it.
 */
process.setSourceMapsEnabled(true);
