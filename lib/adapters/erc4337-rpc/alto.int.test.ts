import { pino } from "pino";
import { afterAll } from "vitest";
import { systemClock } from "@/lib/core/clock";
import { createTransactionsService } from "@/lib/modules/transactions/service";
import { bundlerContract } from "@/lib/ports/bundler.contract";
import { startAlto } from "@/lib/testing/alto";
import { startOperationChain } from "@/lib/testing/bundler-harness";
import { testDatabase } from "@/lib/testing/database";
import { createRpcBundler } from "./rpc-bundler";

const CHAIN_ID = 41_339;
const { database } = await testDatabase();
const chain = await startOperationChain(CHAIN_ID);
const alto = await startAlto(chain.anvil, chain.entryPoint);
afterAll(async () => {
  await alto.stop();
  await chain.anvil.stop();
});

const { registry, signer, executor: executorAddress } = chain;
const transactions = createTransactionsService({
  database,
  registry,
  signer,
  clock: systemClock,
  log: pino({ level: "silent" }),
});
const bundler = createRpcBundler({
  registry,
  urls: new Map([[CHAIN_ID, alto.url]]),
  marker: { transactions, executorAddress },
});

bundlerContract("ERC-4337 JSON-RPC (alto)", () => Promise.resolve(chain.harness(bundler)));
