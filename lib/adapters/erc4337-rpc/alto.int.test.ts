import { afterAll } from "vitest";
import { bundlerContract } from "@/lib/ports/bundler.contract";
import { startAlto } from "@/lib/testing/alto";
import { startOperationChain } from "@/lib/testing/bundler-harness";
import { createRpcBundler } from "./rpc-bundler";

const CHAIN_ID = 41_339;
const chain = await startOperationChain(CHAIN_ID);
const alto = await startAlto(chain.anvil, chain.entryPoint);
afterAll(async () => {
  await alto.stop();
  await chain.anvil.stop();
});

const bundler = createRpcBundler({ registry: chain.registry, urls: new Map([[CHAIN_ID, alto.url]]) });

bundlerContract("ERC-4337 JSON-RPC (alto)", () => Promise.resolve(chain.harness(bundler)));
