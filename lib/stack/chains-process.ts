import { privateKeyToAddress } from "viem/accounts";
import { z } from "zod";
import { DEVELOPMENT_SECRET_PREFIX } from "@/lib/platform/config/values";
import { startAssociationProvider } from "@/lib/dev/devnet/association/provider";
import { fundServiceAccounts, startDevnet } from "@/lib/dev/devnet/devnet";
import { startSolver } from "@/lib/dev/devnet/solver";

/*
 * Entry of the process that serves the local chains: their nodes, the journals in front of them,
 * the solver, and the provider of association sets. Its last argument is JSON with folder and
 * ports. It ends when its parent ends, for any reason.
 */
const own = z.object({
  dataDir: z.string(),
  ports: z.array(z.int()),
  associationPort: z.int(),
});
/** Milliseconds after which a deposit into a privacy pool is approved. */
const approvalDelay = z.coerce.number().int().min(0).default(2_000);

const log = (line: string): void =>
  void process.stdout.write(`${new Date().toISOString()} ${line}\n`);

// On a full disk only the log line is lost; without a listener the process would end.
process.stdout.on("error", () => undefined);

const addressOf = (key: string) => {
  const bare = key.startsWith(DEVELOPMENT_SECRET_PREFIX)
    ? key.slice(DEVELOPMENT_SECRET_PREFIX.length)
    : key;
  return privateKeyToAddress(bare as `0x${string}`);
};

const start = async () => {
  const { associationPort, ...options } = own.parse(JSON.parse(process.argv.at(-1) ?? ""));
  const devnet = await startDevnet({ ...options, persist: true, log });
  const solver = startSolver({ chains: devnet.chains, log });
  const delayMs = approvalDelay.parse(process.env.PRIVACY_APPROVAL_DELAY_MS || undefined);
  const association = await startAssociationProvider({
    chains: devnet.chains,
    port: associationPort,
    delayMs,
    log,
  });
  const key = process.env.EXECUTOR_PRIVATE_KEY;
  // A failure is only logged, because the server's start checks report an executor without coins.
  if (key)
    await fundServiceAccounts(devnet, { executor: addressOf(key) }).catch(() =>
      log("The executor got no coins, or no right to mark."),
    );
  return async (): Promise<void> => {
    await solver.stop();
    await association.stop();
    await devnet.stop();
  };
};

const starting = start();
let isStopping = false;
const stop = (): void => {
  if (isStopping) return;
  isStopping = true;
  starting
    .then((end) => end())
    .then(
      () => process.exit(0),
      () => process.exit(1),
    );
};

process.on("SIGTERM", stop);
process.on("SIGINT", stop);
// Exits immediately: this process has nothing to save, and the next start waits until the ports are
// free.
process.on("disconnect", () => process.exit(0));

starting.then(
  () => process.send?.({ type: "ready" }),
  (error: unknown) => {
    log(error instanceof Error ? error.message : String(error));
    process.exit(1);
  },
);
