import { numberToHex, parseEther, type Hex } from "viem";
import { z } from "zod";
import { devAddress } from "../accounts";
import { creationCode } from "../artifacts";
import {
  CREATE2_DEPLOYER,
  MULTICALL3,
  SAFE_SINGLETON_FACTORY,
  planDeployments,
} from "../contracts";
import { rpc, rpcBatch } from "../json-rpc";
import { poolTransactions } from "./pools";
import { relayerTransactions, serviceTransactions } from "./services";
import { sendAll } from "./transactions";

const code = z.custom<Hex>(
  (value) => typeof value === "string" && /^0x([0-9a-f]{2})+$/i.test(value),
  "has no code",
);

/**
 * Balance of each funded account: more than the pools, inventories and faucets of a long-lived
 * chain need.
 */
const BALANCE_WEI = parseEther("1000000000000");
const RICH = ["deployer", "relayer", "postman", "faucet"] as const;

// Funds the accounts of `RICH`, and sets the code of two contracts that no local deployment can
// create, because their addresses on public chains depend on unknown keys.
const prepare = async (url: string): Promise<void> => {
  const [create2, multicall3] = await rpcBatch(url, [
    { method: "eth_getCode", params: [CREATE2_DEPLOYER, "latest"] },
    { method: "eth_call", params: [{ data: creationCode("multicall3") }, "latest"] },
  ]);
  await rpcBatch(url, [
    { method: "anvil_setCode", params: [SAFE_SINGLETON_FACTORY, code.parse(create2)] },
    { method: "anvil_setCode", params: [MULTICALL3, code.parse(multicall3)] },
    ...RICH.map((role) => ({
      method: "anvil_setBalance",
      params: [devAddress(role), numberToHex(BALANCE_WEI)],
    })),
  ]);
};

const checkAll = async (url: string): Promise<void> => {
  const { deployments } = planDeployments();
  const codes = await rpcBatch(
    url,
    deployments.map(({ address }) => ({ method: "eth_getCode", params: [address, "latest"] })),
  );
  const missing = deployments
    .filter((_, index) => codes[index] === "0x")
    .map(({ name }) => name);
  if (missing.length > 0)
    throw new Error(`Setting up the local chain failed: no code for ${missing.join(", ")}.`);
};

/**
 * Puts every contract, pool and inventory on a fresh chain. Three chains that are set up at the
 * same time take about three seconds.
 * @param chainIndex place of the chain among the local chains; it decides the price of ETH there
 * @throws Error when the chain is not fresh or a step reverts
 */
export const deployAll = async (url: string, chainIndex: number): Promise<void> => {
  const deployer = devAddress("deployer");
  if ((await rpc(url, "eth_getTransactionCount", [deployer, "pending"])) !== "0x0")
    throw new Error("Setting up the local chain failed: it is not fresh.");
  await prepare(url);
  const { contracts, deployments } = planDeployments();
  await sendAll(
    url,
    deployer,
    deployments.map(({ name, to, data }) => ({ what: name, to, data })),
  );
  await checkAll(url);
  await Promise.all([
    sendAll(url, deployer, [
      ...serviceTransactions(contracts),
      ...poolTransactions(contracts, chainIndex),
    ]),
    sendAll(url, devAddress("relayer"), relayerTransactions(contracts)),
  ]);
};
