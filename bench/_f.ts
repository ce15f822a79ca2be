import { spawn } from 'node:child_process';
import { Redis } from 'ioredis';
(async () => {
  const p = spawn('nice', ['-n', '-20', 'redis-server', '--port', '7996', '--save', '', '--appendonly', 'no'], { stdio: 'ignore' });
  await new Promise((r) => setTimeout(r, 400));
  const redis = new Redis(7996);
  const names = Array.from({ length: 10 }, (_, i) => `{x0}:floor:${i}`);
  const args = Array.from({ length: 9 }, (_, i) => `argument ${i}`);
  const big = Array.from({ length: 9 }, (_, i) => Buffer.alloc(i === 8 ? 200 : 32, 65 + i));
  const V: [string, string, unknown[]][] = [
    ['shebang', '#!lua\nreturn 1', args], ['plain', 'return 1', args], ['bigargs', '#!lua\nreturn 1', big],
    ['10time', '#!lua\nfor i=1,10 do redis.call("TIME") end return 1', args],
    ['10hget', '#!lua\nfor i=1,10 do redis.call("HGET", KEYS[1], "a") end return 1', args],
    ['10hset', '#!lua\nfor i=1,10 do redis.call("HSET", KEYS[1], "a", "1") end return 1', args],
    ['10zadd', '#!lua\nfor i=1,10 do redis.call("ZADD", KEYS[2], "5", "a") end return 1', args],
  ];
  for (const inflight of [200, 1]) for (const [n, src, a] of V) {
    const sha = String(await redis.call('SCRIPT', 'LOAD', src));
    const xs: number[] = [];
    for (let r = 0; r < 7; r++) {
      await redis.call('CONFIG', 'RESETSTAT');
      for (let i = 0; i < 1200; i += inflight) await Promise.all(Array.from({ length: inflight }, () => redis.callBuffer('EVALSHA', sha, 10, ...names, ...(a as string[]))));
      const s = /cmdstat_evalsha:calls=(\d+),usec=(\d+)/.exec(String(await redis.call('INFO', 'commandstats')))!;
      xs.push(Number(s[2]) / Number(s[1]));
    }
    xs.sort((x, y) => x - y);
    console.log(inflight, n, xs[0].toFixed(2), xs[3].toFixed(2));
  }
  redis.disconnect(); p.kill();
})();
