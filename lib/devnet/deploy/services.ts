import { encodeFunctionData, erc20Abi, maxUint256, parseAbi, parseUnits } from "viem";
import { markedPaymasterAbi } from "@/lib/chains/erc4337/marked-paymaster";
import { devAddress } from "../accounts";
import type { DevnetContracts } from "../contracts";
import { mintableAbi, weth9Abi } from "./pools";
import type { SetupTransaction } from "./transactions";

const PAYMASTER_DEPOSIT_WEI = parseUnits("100000", 18);
const PAYMASTER_STAKE_WEI = parseUnits("100", 18);
/** Bundlers of ERC-4337 want at least a day. */
const UNSTAKE_DELAY_S = 86_400;

/** What the relayer can lend per token and chain. It is repaid on origin chains, so this is the reach of one direction. */
const RELAYER_INVENTORY = { usdc: "1000000000", usdt: "1000000000", dai: "1000000000" } as const;
const RELAYER_WETH_WEI = parseUnits("300000", 18);

const ownableAbi = parseAbi(["function transferOwnership(address newOwner)"]);

/** The paymaster gets what it pays with; the relayer gets the right to settle deposits. Sent by the deployer. */
export const serviceTransactions = (contracts: DevnetContracts): SetupTransaction[] => [
  {
    what: "the paymaster's deposit",
    to: contracts.paymaster,
    data: encodeFunctionData({ abi: markedPaymasterAbi, functionName: "deposit" }),
    value: PAYMASTER_DEPOSIT_WEI,
  },
  {
    what: "the paymaster's stake",
    to: contracts.paymaster,
    data: encodeFunctionData({ abi: markedPaymasterAbi, functionName: "addStake", args: [UNSTAKE_DELAY_S] }),
    value: PAYMASTER_STAKE_WEI,
  },
  {
    what: "giving the SpokePool to the relayer",
    to: contracts.spokePool,
    data: encodeFunctionData({ abi: ownableAbi, functionName: "transferOwnership", args: [devAddress("relayer")] }),
  },
];

/** Inventory of the relayer and its approvals to the SpokePool. Sent by the relayer. */
export const relayerTransactions = (contracts: DevnetContracts): SetupTransaction[] => {
  const approve = encodeFunctionData({
    abi: erc20Abi,
    functionName: "approve",
    args: [contracts.spokePool, maxUint256],
  });
  const decimals = { usdc: 6, usdt: 6, dai: 18 } as const;
  const minted = (["usdc", "usdt", "dai"] as const).map((token) => ({
    what: `the relayer's ${token}`,
    to: contracts[token],
    data: encodeFunctionData({
      abi: mintableAbi,
      functionName: "mint",
      args: [devAddress("relayer"), parseUnits(RELAYER_INVENTORY[token], decimals[token])],
    }),
  }));
  const wrapped: SetupTransaction = {
    what: "the relayer's WETH",
    to: contracts.weth,
    data: encodeFunctionData({ abi: weth9Abi, functionName: "deposit" }),
    value: RELAYER_WETH_WEI,
  };
  const approvals = (["usdc", "usdt", "dai", "weth"] as const).map((token) => ({
    what: `the relayer's approval of ${token}`,
    to: contracts[token],
    data: approve,
  }));
  return [...minted, wrapped, ...approvals];
};
