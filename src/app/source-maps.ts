/**
 * The first import of every program: a stack then names the lines of src, not those of what was built from them. Node reads
 * the maps of the modules that are loaded from here on only.
 */
process.setSourceMapsEnabled(true);
