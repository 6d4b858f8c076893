import { readFileSync } from "node:fs";
import { createChainRegistry } from "@/lib/chains/registry";
import { chainsFile } from "@/lib/config/chains";
import { testApi } from "./api";
import { changedChainsFile } from "./chains-file";
import { ownDevnet } from "./own-devnet";
import { ownPostgres } from "./own-postgres";

/** The API on a PostgreSQL and on chains of the test file's own, for tests that stop, copy or replace them. */
export const ownInstallation = async ({ confirmations }: { readonly confirmations: number }) => {
  const [devnet, postgres] = await Promise.all([ownDevnet(), ownPostgres()]);
  const [one] = devnet.chains;
  if (one === undefined) throw new Error("There is no chain.");
  const file = changedChainsFile((chain) => {
    chain.confirmations = confirmations;
    chain.rpcUrls = devnet.chains.filter(({ chainId }) => chainId === chain.id).map(({ rpcUrl }) => rpcUrl);
  });
  const { chains } = chainsFile.parse(JSON.parse(readFileSync(file, "utf8")));
  const rpcVariables = Object.fromEntries(
    devnet.chains.map(({ chainId, rpcUrl }) => [`RPC_URL_${String(chainId)}`, rpcUrl]),
  );
  const registry = createChainRegistry(chains);
  const api = await testApi({
    devnet: false,
    variables: { DATABASE_URL: postgres.url, CHAINS_FILE: file, DEVNET: "1", ...rpcVariables },
    overrides: { registry },
  });
  return { devnet, postgres, one, registry, api };
};
