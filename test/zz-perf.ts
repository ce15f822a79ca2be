import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { startExchange, ADMIN_TOKEN } from './support/exchange';
import { createTrader, openMarket } from './support/trader';
const N = 6000;
(async () => {
  const ex = await startExchange({ env: { LOG_LEVEL: 'warn', RATE_LIMIT: process.env.RL ?? 'off' } });
  const { body } = await ex.client.get('/config');
  const market = await openMarket(ex.client, ADMIN_TOKEN);
  const bodies: string[] = [];
  const traders = Array.from({ length: 200 }, () => createTrader(ex.client, body.eip712.domain));
  for (let i = 0; i < N; i++) bodies.push(JSON.stringify({ order: await traders[i % 200]!.order(market, { side: 'BUY', outcome: 0, pips: 100 * (1 + (i % 40)), lots: 100 }) }));
  writeFileSync('/tmp/pb/bodies.json', JSON.stringify(bodies));
  const sender = `
    const http=require('http');const bodies=JSON.parse(require('fs').readFileSync('/tmp/pb/bodies.json'));
    const agent=new http.Agent({keepAlive:true,maxSockets:32});let i=0,done=0,ok=0;const t=Date.now();
    function next(){ if(i>=bodies.length) return; const b=bodies[i++]; const r=http.request({port:${ex.replicas[0].port},host:'127.0.0.1',agent,method:'POST',path:'/markets/${market.id}/orders',headers:{'content-type':'application/json','content-length':Buffer.byteLength(b)}},res=>{ if(res.statusCode===200) ok++; res.resume(); res.on('end',()=>{ if(++done===bodies.length){console.log(ok,(Date.now()-t)+'ms');process.exit()} next(); }) }); r.end(b); }
    for(let k=0;k<32;k++) next();`;
  const s = new Session(); s.connect();
  const post = (m: string, p?: object) => new Promise<any>((res, rej) => s.post(m as any, p as any, (e: any, r: any) => e ? rej(e) : res(r)));
  if (process.env.PROF) { await post('Profiler.enable'); await post('Profiler.start'); }
  const c0 = process.cpuUsage();
  await new Promise<void>((r) => { const c = spawn(process.execPath, ['-e', sender], { stdio: 'inherit' }); c.on('close', () => r()); });
  const c = process.cpuUsage(c0);
  console.log('cpu us/order', (c.user + c.system) / N, 'user', c.user / N);
  if (process.env.PROF) {
    const { profile } = await post('Profiler.stop');
    const self = new Map<string, number>(); const dt = profile.timeDeltas; const byId = new Map(profile.nodes.map((n: any) => [n.id, n]));
    profile.samples.forEach((id: number, i: number) => { const n: any = byId.get(id); const k = n.callFrame.functionName + ' ' + n.callFrame.url.split('/').slice(-3).join('/') + ':' + n.callFrame.lineNumber; self.set(k, (self.get(k) ?? 0) + dt[i]); });
    console.log([...self].sort((a, b) => b[1] - a[1]).slice(0, 40).map(([k, v]) => (v / N).toFixed(1) + ' ' + k).join('\n'));
  }
  await ex.stop(); process.exit();
})();
