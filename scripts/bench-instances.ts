/**
 * `npx tsx scripts/bench-instances.ts`: operations that 1, 2 and 4 instances on one PostgreSQL accept in a second, and the processor time
 * of each kind of process. A benchmark, not a test.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { createTestClient, http, parseEther, toHex, type Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { startDevnet } from "../lib/devnet/devnet";
import { allowMarker } from "../lib/devnet/marker";
import { environmentOn, startDatabase, startServer, stopServer, type BenchServer } from "./bench-servers";
import { signInAnew } from "./bench-sign-in";
import { cpuOf, newRecipient, transferWith } from "./bench-transfers";

const INSTANCES = [1, 2, 4];
const PAYERS = 8;
const CALLERS_PER_PAYER = 2;
const WARM = 3;
const MEASURE_MS = 15_000;
const CHAIN = 31337;

const descendantsOf = (pid: number): number[] => {
  const own = `/proc/${String(pid)}/task/${String(pid)}/children`;
  const children = readFileSync(own, "utf8").trim().split(/\s+/).filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
};

/** Each payer has a treasury of its own and calls all instances in turn. @returns transfers accepted in a second */
const acceptedPerSecond = async (
  instances: readonly BenchServer[],
): Promise<{ perSecond: number; cpuMs: object; cpuShare: number }> => {
  const [first] = instances;
  if (first === undefined) throw new Error("There is no instance.");
  const payers: ((recipient: Hex) => Promise<string>)[] = [];
  for (let payer = 0; payer < PAYERS; payer += 1) {
    const { account, client } = await signInAnew(first.url, CHAIN);
    const at = instances[payer % instances.length] ?? first;
    const transfer = await transferWith({ account, client, apiUrl: `${at.url}/api`, chainId: CHAIN });
    for (let warm = 0; warm < WARM; warm += 1) await transfer(newRecipient());
    payers.push(transfer);
  }
  const before = cpuOf(descendantsOf(process.pid));
  const begun = performance.now();
  let accepted = 0;
  const call = async (transfer: (recipient: Hex) => Promise<string>): Promise<void> => {
    while (performance.now() - begun < MEASURE_MS) {
      await transfer(newRecipient());
      accepted += 1;
    }
  };
  await Promise.all(payers.flatMap((transfer) => Array.from({ length: CALLERS_PER_PAYER }, () => call(transfer))));
  const seconds = (performance.now() - begun) / 1000;
  const used = [...cpuOf(descendantsOf(process.pid))].map(([name, cpu]): [string, number] => [
    name,
    cpu - (before.get(name) ?? 0),
  ]);
  const cpuMs = used.filter(([, cpu]) => cpu > 0.1).map(([name, cpu]) => [name, Math.round((cpu * 1000) / accepted)]);
  return {
    perSecond: Math.round((accepted / seconds) * 10) / 10,
    cpuMs: Object.fromEntries(cpuMs) as object,
    cpuShare: used.reduce((sum, [, cpu]) => sum + cpu, 0) / seconds / availableParallelism(),
  };
};

const main = async (): Promise<void> => {
  const database = await startDatabase();
  const log = (): void => undefined;
  const devnet = await startDevnet({ dataDir: `${database.folder}/chains`, persist: false, log });
  const executorKey = toHex(randomBytes(32));
  const executor = privateKeyToAddress(executorKey);
  for (const { rpcUrl } of devnet.chains) {
    const node = createTestClient({ mode: "anvil", transport: http(rpcUrl) });
    await node.setBalance({ address: executor, value: parseEther("1000") });
    await allowMarker(rpcUrl, executor);
  }
  for (const count of INSTANCES) {
    const environment = {
      ...environmentOn(await database.create(`bench_${String(count)}`)),
      ...{ DEVNET: "1", EXECUTOR_PRIVATE_KEY: `dev_${executorKey}` },
      ...Object.fromEntries(devnet.chains.map(({ chainId, rpcUrl }) => [`RPC_URL_${String(chainId)}`, rpcUrl])),
    };
    const instances = await Promise.all(Array.from({ length: count }, () => startServer(environment)));
    console.log(JSON.stringify({ instances: count, ...(await acceptedPerSecond(instances)) }));
    await Promise.all(instances.map(stopServer));
  }
  await devnet.stop();
  await database.stop();
};

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
