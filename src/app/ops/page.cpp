#include "src/app/ops/api.hpp"

// The status page. It asks /v1/ once a second and draws what it gets; rates are differences of
// totals, so the daemon keeps no history for it. All that peers chose goes through textContent.
namespace upf::app::ops {
namespace {

constexpr std::string_view kPage = R"html(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'">
<title>kupf</title>
<style>
:root{--bg:#f6f7f9;--card:#fff;--ink:#1a2230;--dim:#5d6878;--line:#dfe3ea;--a:#1a66c2;--b:#c2571a;--good:#1b7f4b;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--bg:#12161d;--card:#1b212b;--ink:#e6eaf0;--dim:#98a3b3;--line:#2d3643;--a:#6aa9f0;--b:#f0a06a;--good:#55c98c;--bad:#f2827a}}
*{box-sizing:border-box}
body{margin:0;font:15px/1.45 system-ui,sans-serif;background:var(--bg);color:var(--ink)}
main{max-width:1100px;margin:0 auto;padding:12px}
header{display:flex;flex-wrap:wrap;gap:4px 16px;align-items:baseline;padding:8px 0}
h1{font-size:20px;margin:0}h2{font-size:15px;margin:0 0 8px}
.dim{color:var(--dim)}.good{color:var(--good)}.bad{color:var(--bad)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:8px}
.card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:12px;margin-bottom:10px;min-width:0}
.tile b{display:block;font-size:22px;font-variant-numeric:tabular-nums}
.two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));gap:0 10px}
canvas{width:100%;height:150px;display:block}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:4px 12px 4px 0;border-top:1px solid var(--line);white-space:nowrap;vertical-align:top}
th{color:var(--dim);font-weight:600;border:0}
td.wrap{white-space:normal}
input{font:inherit;width:100%;max-width:360px;padding:6px 8px;margin-bottom:8px;border:1px solid var(--line);border-radius:6px;background:var(--bg);color:var(--ink)}
.key{font-weight:400}.nb{white-space:nowrap}.tiles{margin-bottom:10px}.tile{margin:0}
/* On a phone a row is a few lines, each cell behind its heading. */
@media (max-width:600px){tr.heads{display:none}tr{display:block;border-top:1px solid var(--line);padding:4px 0}tr:nth-child(2){border:0}
td{display:inline-block;white-space:normal;overflow-wrap:anywhere;border:0;padding:0 14px 0 0}td[data-head]::before{content:attr(data-head) " ";color:var(--dim)}}
.key i{display:inline-block;width:10px;height:10px;border-radius:2px;margin:0 4px 0 12px}
</style></head><body><main>
<header><h1 id="node">kupf</h1><span id="state"></span><span id="about" class="dim"></span></header>
<div class="tiles" id="tiles"></div>
<div class="two">
<section class="card"><h2>Throughput <span class="key dim"><span class="nb"><i style="background:var(--a)"></i>up <span id="bits-up"></span></span> <span class="nb"><i style="background:var(--b)"></i>down <span id="bits-down"></span></span></span></h2><canvas id="traffic"></canvas></section>
<section class="card"><h2>Signalling <span class="key dim"><span class="nb"><i style="background:var(--a)"></i>received <span id="msgs-in"></span></span> <span class="nb"><i style="background:var(--b)"></i>sent <span id="msgs-out"></span></span></span></h2><canvas id="n4"></canvas></section>
</div>
<div class="two">
<section class="card"><h2>SMFs</h2><div class="scroll"><table id="smfs"></table></div></section>
<section class="card"><h2>GTP-U peers</h2><div class="scroll"><table id="paths"></table></div></section>
</div>
<section class="card"><h2>Sessions</h2>
<input id="search" placeholder="UE address, TEID or SEID (0x…), or DNN" aria-label="Search sessions">
<div class="scroll"><table id="sessions"></table></div><div class="dim" id="more"></div></section>
<section class="card"><h2>Last refusals</h2><div class="scroll"><table id="refusals"></table></div></section>
<section class="card"><h2>Dropped packets by reason</h2><div class="scroll"><table id="drops"></table></div></section>
</main><script>
"use strict";
const $=id=>document.getElementById(id),css=n=>getComputedStyle(document.documentElement).getPropertyValue(n);
const past=[];let before=null;
const unit=(n,u)=>{const p=["","k","M","G","T"];let i=0;while(n>=1000&&i<4){n/=1000;i++}return (i?n.toFixed(2):n.toFixed(0))+" "+p[i]+u};
const age=s=>{s=Math.floor(s);return s<60?s+" s":s<3600?Math.floor(s/60)+" min":s<86400?Math.floor(s/3600)+" h "+Math.floor(s/60)%60+" min":Math.floor(s/86400)+" d "+Math.floor(s/3600)%24+" h"};
function cells(row,list,tag){for(const c of list){const td=document.createElement(tag||"td");if(c&&c.text!==undefined){td.textContent=c.text;td.className=c.cls||""}else td.textContent=c??"";row.append(td)}}
function table(id,heads,rows,none){const t=$(id);t.replaceChildren();if(!rows.length){cells(t.insertRow(),[{text:none,cls:"dim"}]);return}const head=t.insertRow();head.className="heads";cells(head,heads,"th");
for(const r of rows){const row=t.insertRow();cells(row,r);heads.forEach((h,i)=>{if(h)row.cells[i].dataset.head=h})}}
function tile(name,value,cls){const d=document.createElement("div");d.className="card tile";const b=document.createElement("b");b.textContent=value;if(cls)b.className=cls;const s=document.createElement("span");s.className="dim";s.textContent=name;d.append(b,s);return d}
function plot(id,a,b,label){const c=$(id),r=devicePixelRatio||1,w=c.clientWidth,h=c.clientHeight;c.width=w*r;c.height=h*r;const g=c.getContext("2d");g.scale(r,r);
const top=Math.max(1,...past.map(p=>Math.max(p[a],p[b])));g.strokeStyle=css("--line");g.fillStyle=css("--dim");g.font="12px system-ui";
for(let i=0;i<=2;i++){const y=4+(h-8)*i/2;g.beginPath();g.moveTo(0,y);g.lineTo(w,y);g.stroke()}g.fillText(label(top),4,16);
for(const [k,col,wide] of [[b,"--b",4],[a,"--a",2]]){g.strokeStyle=css(col);g.lineWidth=wide;g.lineJoin="round";g.beginPath();past.forEach((p,i)=>{const x=w-(past.length-1-i)*w/119,y=h-4-(h-8)*p[k]/top;i?g.lineTo(x,y):g.moveTo(x,y)});g.stroke()}}
function plots(){plot("traffic","up","down",n=>unit(n,"bit/s"));plot("n4","got","sent",n=>n.toFixed(0)+" /s")}
const get=async p=>{const r=await fetch(p);if(!r.ok&&r.status!==503)throw new Error(r.status);return r.json()};
const typed=()=>$("search").value.trim();
// One search at a time; what is typed meanwhile ends it and is the next. One that took many calls rests as many ticks.
let looking=false,rest=0;
async function sessions(){if(looking)return;looking=true;try{let q;do{q=typed();await look(q)}while(q!==typed())}finally{looking=false}}
async function look(q){let f="";if(/^0x[0-9a-f]{9,}$/i.test(q))f="&seid="+encodeURIComponent(q);else if(/^0x[0-9a-f]+$/i.test(q))f="&teid="+encodeURIComponent(q);else if(/^[0-9.]+$|:/.test(q))f="&ue="+encodeURIComponent(q);else if(q)f="&dnn="+encodeURIComponent(q);
let s;rest=-1;try{let a="";do{s=await get("/v1/sessions?limit=20"+f+a);a="&after="+s.next;rest++}while(!s.sessions.length&&s.next&&q===typed())}catch(e){s={sessions:[],total:0,next:null}}
if(q!==typed())return;
table("sessions",["UE","DNN","State","SMF","Tunnels","SEID"],s.sessions.map(x=>[x.ue.join(", "),x.dnn,x.state,x.node_id,x.tunnels.join(", "),x.seid]),q?"none matches":"none");
$("more").textContent=s.next?s.sessions.length+" shown of "+s.total:""}
let busy=false;
async function tick(){if(busy)return;busy=true;try{const s=await get("/v1/status");
if(before&&s.uptime_seconds>before.uptime_seconds){const t=s.uptime_seconds-before.uptime_seconds,d=(w,k)=>(s[w][k]-before[w][k])/t;
past.push({up:d("uplink","octets")*8,down:d("downlink","octets")*8,got:d("pfcp","received"),sent:d("pfcp","sent")});if(past.length>120)past.shift();
const h=past[past.length-1];$("bits-up").textContent=unit(h.up,"bit/s");$("bits-down").textContent=unit(h.down,"bit/s");$("msgs-in").textContent=h.got.toFixed(0)+" /s";$("msgs-out").textContent=h.sent.toFixed(0)+" /s"}
before=s;plots();
document.title="kupf "+s.node_id;$("node").textContent=s.node_id;$("state").textContent=s.fault?"faulty: "+s.fault:s.draining?"draining":"ready";$("state").className=s.ready?"good":"bad";
$("about").textContent="kupf "+s.version+", "+s.forwarder+", N4 "+s.n4+", up for "+age(s.uptime_seconds);
$("tiles").replaceChildren(tile("sessions",s.sessions),tile("SMFs up",s.associations_up+" of "+s.associations,s.associations_up<s.associations?"bad":""),tile("PFCP refused",s.pfcp.refused),tile("uplink",unit(s.uplink.octets,"B")),tile("downlink",unit(s.downlink.octets,"B")),tile("dropped packets",s.drops));
table("drops",["Reason","Packets"],Object.entries(s.drops_by_reason).sort((a,b)=>b[1]-a[1]),"none");
const a=await get("/v1/associations");table("smfs",["Node ID","Address","","For","Last heard"],a.associations.map(x=>[x.node_id,x.peer,x.up?{text:"up",cls:"good"}:{text:"silent",cls:"bad"},age(x.age_seconds),age(x.last_heard_seconds)+" ago"]),"none associated");
const g=await get("/v1/paths");table("paths",["Address","","Tunnels","Round trip"],g.paths.sort((a,b)=>a.up-b.up||b.tunnels-a.tunnels).slice(0,8).map(x=>[x.peer,x.up?{text:"up",cls:"good"}:{text:"silent",cls:"bad"},x.tunnels,x.round_trip_ms===null?"":x.round_trip_ms.toFixed(2)+" ms"]),"none");
const r=await get("/v1/refusals");table("refusals",["Time","Peer","Request","Why"],r.refusals.slice(0,10).map(x=>[x.time.slice(11,19),x.peer,x.request,{text:x.reason+(x.failed_rule&&!x.reason.includes(x.failed_rule)?", "+x.failed_rule:""),cls:"wrap"}]),"none");
if(rest>0)rest--;else await sessions()}catch(e){$("state").textContent="no answer";$("state").className="bad"}finally{busy=false}}
$("search").addEventListener("input",sessions);addEventListener("resize",plots);tick();setInterval(tick,1000);
</script></body></html>
)html";

}  // namespace

std::string_view status_page() { return kPage; }

}  // namespace upf::app::ops
