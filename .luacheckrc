-- Redis' sandbox: Lua 5.1 without io and os.
std = 'lua51'
globals = { 'KEYS', 'ARGV' }
read_globals = { 'redis', 'struct', 'cjson', 'cmsgpack', 'bit' }
max_line_length = 120
