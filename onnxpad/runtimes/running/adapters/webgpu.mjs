// onnxruntime-web on WebGPU in headless Chromium, from node_modules of the working folder; $BUNDLE
// says which build.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const dist = join(process.cwd(), "node_modules", "onnxruntime-web", "dist");
const HEADERS = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cache-Control": "no-store",
};

// Runs in the page, which is loaded anew after each error: a failed kernel of JSEP spoils it. So does
// a DequantizeLinear: the next one with as many axes runs its shader, whatever its cells are.
const PAGE = `<script type="module">
const ort = await import("/dist/${process.env.BUNDLE}");
ort.env.wasm.numThreads = 1;
ort.env.wasm.wasmPaths = "/dist/";
ort.env.logLevel = "fatal";
const ARRAYS = { float32: Float32Array, float64: Float64Array, int8: Int8Array, uint8: Uint8Array,
  int16: Int16Array, uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array,
  int64: BigInt64Array, uint64: BigUint64Array, bool: Uint8Array };
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const text = (data) => {
  let found = "";
  for (const byte of new Uint8Array(data.buffer, data.byteOffset, data.byteLength)) {
    found += String.fromCharCode(byte);
  }
  return btoa(found);
};
async function opened(model) {
  const strict = { session: { disable_cpu_ep_fallback: "1" } };
  try {
    return [await ort.InferenceSession.create(model, { executionProviders: ["webgpu"], extra: strict }), false];
  } catch (error) {
    return [await ort.InferenceSession.create(model, { executionProviders: ["webgpu"] }), true];
  }
}
async function answer(job) {
  const [session, fallback] = await opened(bytes(job.bytes));
  const inputs = {};
  for (const [name, { type, dims, data }] of Object.entries(job.inputs)) {
    inputs[name] = new ort.Tensor(type, new ARRAYS[type](bytes(data).buffer), dims);
  }
  const results = await session.run(inputs);
  const outputs = {};
  for (const [name, { type, dims, data }] of Object.entries(results)) {
    outputs[name] = { type, dims, data: text(data), views: data.constructor.name };
  }
  await session.release();
  return { outputs, fallback };
}
for (;;) {
  const job = await (await fetch("/job")).json();
  let found;
  try {
    found = await answer(job);
  } catch (error) {
    found = { refused: String(error?.message ?? error) };
  }
  await fetch("/answer", { method: "POST", body: JSON.stringify(found) });
  if (found.refused || job.spoils) {
    location.reload();
    break;
  }
}
</script>`;

let waiting; // the page's open request for a job
let pending; // a job that no page has asked for yet
let told; // resolves with the answer to the job at hand

function hand() {
  if (!waiting || !pending) return;
  waiting.writeHead(200, { "Content-Type": "application/json", ...HEADERS }).end(pending);
  waiting = pending = undefined;
}

function serve(request, response) {
  if (request.url === "/job") {
    waiting = response;
    hand();
  } else if (request.url === "/answer") {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", () => {
      response.writeHead(204, HEADERS).end();
      told(JSON.parse(body));
    });
  } else if (request.url.startsWith("/dist/")) {
    const name = request.url.slice("/dist/".length).split("?")[0];
    const type = name.endsWith(".wasm") ? "application/wasm" : "text/javascript";
    try {
      const content = readFileSync(join(dist, name));
      response.writeHead(200, { "Content-Type": type, ...HEADERS }).end(content);
    } catch {
      response.writeHead(404, HEADERS).end();
    }
  } else {
    const known = request.url === "/";
    response.writeHead(known ? 200 : 404, { "Content-Type": "text/html", ...HEADERS });
    response.end(known ? PAGE : "");
  }
}

const base64 = (data) => Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");

export async function run(model, inputs) {
  const content = readFileSync(model);
  const spoils = content.includes("DequantizeLinear");
  const feeds = Object.entries(inputs).map(([name, one]) => [name, { ...one, data: base64(one.data) }]);
  const job = { inputs: Object.fromEntries(feeds), spoils, bytes: content.toString("base64") };
  const found = await new Promise((resolve) => {
    told = resolve;
    pending = JSON.stringify(job);
    hand();
  });
  if (found.refused) throw new Error(found.refused);
  for (const one of Object.values(found.outputs)) {
    one.data = new globalThis[one.views](new Uint8Array(Buffer.from(one.data, "base64")).buffer);
  }
  return found;
}

const profile = mkdtempSync(join(tmpdir(), "onnxpad-chromium-"));
const server = createServer(serve).listen(0, "127.0.0.1");
await new Promise((resolve) => server.on("listening", resolve));
const options = [
  ...["--headless", "--no-sandbox", "--disable-gpu-sandbox", "--enable-unsafe-webgpu"],
  ...["--enable-features=Vulkan,WebGPU", "--use-webgpu-adapter=swiftshader"],
  ...["--use-angle=swiftshader", "--disable-dev-shm-usage", `--user-data-dir=${profile}`],
];
const browser = spawn("chromium", [...options, `http://127.0.0.1:${server.address().port}/`], {
  stdio: ["ignore", "ignore", "ignore"],
});
browser.on("exit", (code) => process.exit(code || 1));
process.on("exit", () => {
  browser.kill("SIGKILL");
  rmSync(profile, { recursive: true, force: true });
});
