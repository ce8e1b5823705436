// Runs adapters of JavaScript: `node serving.mjs ADAPTER.mjs` in a folder with node_modules, one job
// per line, as serving.py does.
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  bool: Uint8Array,
};

function decoded({ dtype, shape, data }) {
  if (!(dtype in ARRAYS)) throw new TypeError(`no tensor of ${dtype}`);
  const bytes = new Uint8Array(Buffer.from(data, "base64"));
  return { type: dtype, dims: shape, data: new ARRAYS[dtype](bytes.buffer) };
}

function encoded({ type, dims, data }) {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return { dtype: type, shape: dims, data: bytes.toString("base64") };
}

const each = (object, change) => Object.fromEntries(Object.entries(object).map(([name, one]) => [name, change(one)]));

async function answer(run, job) {
  try {
    const { outputs, fallback } = await run(job.model, each(job.inputs, decoded), job.outputs);
    return { outputs: each(outputs, encoded), fallback };
  } catch (error) {
    return { refused: String(error?.message ?? error) };
  }
}

function say(message) {
  const line = Buffer.from(`${JSON.stringify(message)}\n`);
  for (let done = 0; done < line.length; ) done += writeSync(1, line, done);
}

console.log = console.error;
let run;
try {
  ({ run } = await import(pathToFileURL(process.argv[2])));
} catch (error) {
  say({ failed: String(error?.message ?? error) });
  process.exit(1);
}
say({ ready: true });
for await (const line of createInterface({ input: process.stdin })) say(await answer(run, JSON.parse(line)));
process.exit(0);
