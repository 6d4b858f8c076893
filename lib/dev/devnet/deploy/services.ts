import {
  encodeFunctionData,
  erc20Abi,
  keccak256,
  maxUint256,
  parseAbi,
  parseUnits,
  toBytes,
} from "viem";
import { markedPaymasterAbi } from "@/lib/chain/erc4337/marked-paymaster";
import { devAddress } from "../accounts";
import { PRIVACY_NATIVE_ASSET, type DevnetContracts } from "../contracts";
import { mintableAbi, weth9Abi } from "./pools";
import type { SetupTransaction } from "./transactions";

const PAYMASTER_DEPOSIT_WEI = parseUnits("100000", 18);
const PAYMASTER_STAKE_WEI = parseUnits("100", 18);
/**
 * Delay between unlocking the stake and withdrawing it. ERC-4337 bundlers require at least a day.
 */
const UNSTAKE_DELAY_S = 86_400;

/**
 * The relayer's funds per token and chain. The relayer is repaid on the origin chains, so these
 * funds limit the total that can be transferred in one direction.
 */
const RELAYER_INVENTORY = {
  usdc: "1000000000",
  usdt: "1000000000",
  dai: "1000000000",
} as const;
const RELAYER_WETH_WEI = parseUnits("300000", 18);

const ownableAbi = parseAbi(["function transferOwnership(address newOwner)"]);

const entrypointAbi = parseAbi([
  "function registerPool(address asset, address pool, uint256 minimumDepositAmount, uint256 vettingFeeBPS, uint256 maxRelayFeeBPS)",
  "function grantRole(bytes32 role, address account)",
]);
const ASP_POSTMAN = keccak256(toBytes("ASP_POSTMAN"));
/** The pool's fee of a deposit. */
const VETTING_FEE_BPS = 10n;
/** Maximum fee that a relayer may take for a withdrawal. */
const RELAY_FEE_BPS_MAX = 100n;

/**
 * Registers the pools and the publisher of association sets at the entrypoint. Sent by the
 * deployer.
 */
const privacyTransactions = ({ privacy, usdc, dai }: DevnetContracts): SetupTransaction[] => {
  const { entrypoint: to, pools } = privacy;
  const registered = [
    [usdc, pools.usdc, parseUnits("1", 6)],
    [dai, pools.dai, parseUnits("1", 18)],
    [PRIVACY_NATIVE_ASSET, pools.native, parseUnits("0.001", 18)],
  ] as const;
  const postman = encodeFunctionData({
    abi: entrypointAbi,
    functionName: "grantRole",
    args: [ASP_POSTMAN, devAddress("postman")],
  });
  return [
    ...registered.map(([asset, pool, minimum]) => ({
      what: "a privacy pool's registration",
      to,
      data: encodeFunctionData({
        abi: entrypointAbi,
        functionName: "registerPool",
        args: [asset, pool, minimum, VETTING_FEE_BPS, RELAY_FEE_BPS_MAX],
      }),
    })),
    { what: "the postman of association sets", to, data: postman },
  ];
};

/**
 * Funds the paymaster, lets the relayer settle deposits, and registers the privacy pools. Sent by
 * the deployer.
 */
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
    data: encodeFunctionData({
      abi: markedPaymasterAbi,
      functionName: "addStake",
      args: [UNSTAKE_DELAY_S],
    }),
    value: PAYMASTER_STAKE_WEI,
  },
  {
    what: "giving the SpokePool to the relayer",
    to: contracts.spokePool,
    data: encodeFunctionData({
      abi: ownableAbi,
      functionName: "transferOwnership",
      args: [devAddress("relayer")],
    }),
  },
  ...privacyTransactions(contracts),
];

/** Mints the relayer's inventory and approves the SpokePool. Sent by the relayer. */
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
