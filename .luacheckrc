-- The globals that a Redis script may use: no io, no os and no globals of its own.
-- `require` is the bundler's (src/lua-bundle/bundle.ts): the module is inlined when the scripts are built.
stds.redis = {
  read_globals = {
    'redis', 'KEYS', 'ARGV', 'cjson', 'cmsgpack', 'struct', 'bit', 'require',
    'assert', 'error', 'ipairs', 'next', 'pairs', 'pcall', 'select', 'tonumber', 'tostring', 'type', 'unpack',
    math = { fields = { 'abs', 'ceil', 'floor', 'fmod', 'huge', 'max', 'min', 'modf' } },
    string = { fields = { 'byte', 'char', 'find', 'format', 'gmatch', 'gsub', 'len', 'lower', 'match', 'rep', 'reverse', 'sub', 'upper' } },
    table = { fields = { 'concat', 'insert', 'remove', 'sort' } },
  },
}
std = 'redis'
max_line_length = 140
