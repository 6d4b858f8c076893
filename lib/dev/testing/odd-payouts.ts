/**
 * A chain's test token with one recipient that it blocks, and the environment of processes that pay
 * with it.
 */
import { changedChainsFile } from "./chains-file";
import { testDevnet } from "./devnet";
import { testAccount, testKey } from "./factories";
import { deployOddToken, ODD_MODE, ODD_RECIPIENT } from "./odd-tokens";
import { nobody } from "./wallet-payouts";

const secret = (): string => `dev_${testKey().slice(2)}`;

/**
 * Deploys the token `ODD` on one chain of the shared devnet, and returns the token, the address
 * that the token blocks, and the environment variables of processes that pay with it.
 * @param usdPegged whether the chain's configuration defines the token as worth a dollar
 */
export const startOddPayouts = async (
  chainId: number,
  { usdPegged }: { readonly usdPegged: boolean },
) => {
  const devnet = await testDevnet();
  const deployer = testAccount();
  await devnet.setCoins(deployer.address, "10");
  const rpcUrl = devnet.rpcUrls[String(chainId)] ?? "";
  const odd = await deployOddToken({ rpcUrl, deployer }, ODD_MODE.honest);
  const blocked = nobody("whom the token blocks");
  await odd.setSpecial(blocked, ODD_RECIPIENT.blocked);
  const token = {
    symbol: "ODD",
    name: "Odd",
    address: odd.address,
    decimals: 6,
    assetId: "odd",
    usdPegged,
  };
  const variables = {
    CAUSEWAY_ENV: "development",
    LOG_LEVEL: "warn",
    CHAINS_FILE: changedChainsFile((chain) => {
      if (chain.id === chainId) chain.tokens.push(token);
    }),
    APP_SECRET: secret(),
    KEY_ENCRYPTION_KEY: secret(),
    EXECUTOR_PRIVATE_KEY: `dev_${testKey()}`,
  };
  return { devnet, rpcUrl, odd, blocked, variables };
};
