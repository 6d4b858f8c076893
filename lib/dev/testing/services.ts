import { privateKeyToAddress } from "viem/accounts";
import { createProver } from "@/lib/adapters/privacy-pools/prover";
import { createServices, setServices, type Overrides, type Services } from "@/lib/composition";
import { startWorker } from "@/lib/workers/runner";
import { testDatabase } from "./database";
import { testConfig, testDevnet } from "./devnet";
import { afterFile } from "./after-file";

export interface TestServicesOptions {
  /**
   * Default true: the shared local chains. False: chains are configured but unreachable, and none
   * is started.
   */
  readonly devnet?: boolean;
  /** Whether jobs are run. Default false. */
  readonly worker?: boolean;
  /**
   * Whether the worker searches for deposits. Default false, because money from the faucet would
   * otherwise be in every list of operations.
   */
  readonly deposits?: boolean;
  /** Replacements for real dependencies. */
  readonly overrides?: Overrides;
  /** Environment variables beyond those of `testConfig`. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Variables that depend on the file's database, such as the URL of a pooler in front of it. */
  readonly databaseVariables?: (
    databaseUrl: string,
  ) => Promise<Readonly<Record<string, string>>>;
}

const EXECUTOR_COINS = "1000";

/**
 * The whole composition with a separate database for this file, a separate funded executor, and the
 * development inbox. Call it once at the top of the file; everything is closed after the file.
 * `getServices()` of this process returns the same services.
 */
export const testServices = async (options: TestServicesOptions = {}): Promise<Services> => {
  const [{ url: databaseUrl }, devnet] = await Promise.all([
    testDatabase(),
    options.devnet === false ? null : testDevnet(),
  ]);
  const databaseVariables = await options.databaseVariables?.(databaseUrl);
  const config = testConfig({
    databaseUrl,
    rpcUrls: devnet?.rpcUrls ?? null,
    associationUrl: devnet?.associationUrl,
    variables: { ...options.variables, ...databaseVariables },
  });
  if (devnet && config.executorPrivateKey) {
    const executor = privateKeyToAddress(config.executorPrivateKey);
    await Promise.all([
      devnet.setCoins(executor, EXECUTOR_COINS),
      devnet.allowMarker(executor),
    ]);
  }
  // The service's usual prover, unless `overrides` replaces it.
  const services = createServices(config, { prover: createProver(), ...options.overrides });
  setServices(services);
  const worker =
    options.worker === true
      ? startWorker(services, { searchesDeposits: options.deposits === true })
      : null;
  // Runs before the hook that drops the database.
  afterFile(async () => {
    await worker?.stop();
    await services.close();
  });
  return services;
};
