import { readFileSync } from "node:fs";
import { createChainRegistry } from "@/lib/chain/registry";
import { chainsFile } from "@/lib/platform/config/chains";
import { testApi } from "./api";
import { startAssociationProvider } from "@/lib/dev/devnet/association/provider";
import { afterFile } from "./after-file";
import { changedChainsFile } from "./chains-file";
import { ownDevnet, type OwnDevnet } from "./own-devnet";
import { ownPostgres } from "./own-postgres";

interface OwnInstallationOptions {
  readonly confirmations: number;
  /** Whether deposits into the privacy pools of these chains are approved. Default: false. */
  readonly hasAssociation?: boolean;
}

const startAssociation = async ({ chains }: OwnDevnet): Promise<string> => {
  const provider = await startAssociationProvider({
    chains,
    port: 0,
    delayMs: 0,
    log: () => undefined,
  });
  afterFile(() => provider.stop());
  return provider.url;
};

/**
 * The API on a separate PostgreSQL and separate chains, for tests that stop, copy or replace them.
 */
export const ownInstallation = async ({
  confirmations,
  hasAssociation = false,
}: OwnInstallationOptions) => {
  const [devnet, postgres] = await Promise.all([ownDevnet(), ownPostgres()]);
  const associationUrl = hasAssociation ? await startAssociation(devnet) : null;
  const [one] = devnet.chains;
  if (one === undefined) throw new Error("There is no chain.");
  const file = changedChainsFile((chain) => {
    chain.confirmations = confirmations;
    if (associationUrl !== null && chain.privacyPools !== undefined)
      chain.privacyPools.aspSource = associationUrl;
    chain.rpcUrls = devnet.chains
      .filter(({ chainId }) => chainId === chain.id)
      .map(({ rpcUrl }) => rpcUrl);
  });
  const { chains } = chainsFile.parse(JSON.parse(readFileSync(file, "utf8")));
  const variables = Object.fromEntries(
    devnet.chains.flatMap(({ chainId, rpcUrl }) => [
      [`RPC_URL_${String(chainId)}`, rpcUrl],
      ...(associationUrl === null ? [] : [[`ASP_URL_${String(chainId)}`, associationUrl]]),
    ]),
  ) as Record<string, string>;
  const registry = createChainRegistry(chains);
  const api = await testApi({
    devnet: false,
    variables: { DATABASE_URL: postgres.url, CHAINS_FILE: file, DEVNET: "1", ...variables },
    overrides: { registry },
  });
  return { devnet, postgres, one, registry, api };
};
