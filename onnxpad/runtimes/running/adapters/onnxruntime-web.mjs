// onnxruntime-web's WebAssembly build under Node, from node_modules of the working folder.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const ort = createRequire(join(process.cwd(), "package.json"))("onnxruntime-web");
ort.env.wasm.numThreads = 1;
ort.env.logLevel = "fatal";

let opened; // the last model and its session

async function sessionOf(model) {
  if (opened?.model !== model) {
    await opened?.session.release();
    opened = undefined;
    const options = { executionProviders: ["wasm"] };
    opened = { model, session: await ort.InferenceSession.create(readFileSync(model), options) };
  }
  return opened.session;
}

export async function run(model, inputs) {
  const session = await sessionOf(model);
  const feeds = Object.entries(inputs).map(([name, { type, data, dims }]) => [name, new ort.Tensor(type, data, dims)]);
  return { outputs: await session.run(Object.fromEntries(feeds)), fallback: false };
}
