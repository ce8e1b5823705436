// onnxruntime-web's WebAssembly build under Node: `node onnxruntime-web.mjs FOLDER`.
import { readFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const require = createRequire(join(process.argv[2], "package.json"));
const ort = require("onnxruntime-web");
ort.env.wasm.numThreads = 1;
ort.env.logLevel = "fatal";

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
  return new ort.Tensor(dtype, new ARRAYS[dtype](bytes.buffer), shape);
}

function encoded({ type, dims, data }) {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return { dtype: type, shape: dims, data: bytes.toString("base64") };
}

async function answer(job) {
  try {
    const session = await ort.InferenceSession.create(readFileSync(job.model), {
      executionProviders: ["wasm"],
    });
    const pairs = Object.entries(job.inputs).map(([name, array]) => [name, decoded(array)]);
    const results = await session.run(Object.fromEntries(pairs));
    await session.release();
    const outputs = Object.entries(results).map(([name, tensor]) => [name, encoded(tensor)]);
    return { outputs: Object.fromEntries(outputs) };
  } catch (error) {
    return { refused: String(error?.message ?? error) };
  }
}

const say = (message) => writeSync(1, `${JSON.stringify(message)}\n`);
console.log = console.error;
say({ ready: true });
for await (const line of createInterface({ input: process.stdin })) say(await answer(JSON.parse(line)));
