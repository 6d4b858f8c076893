import {
  encodeFunctionData,
  erc20Abi,
  parseAbi,
  parseEther,
  parseGwei,
  parseUnits,
  zeroAddress,
  type Address,
  type Hex,
} from "viem";
import { expect } from "vitest";
import { planDeployments } from "@/lib/dev/devnet/contracts";
import { testAccount } from "./factories";
import type { OwnChain } from "./own-devnet";

const { contracts } = planDeployments();
const routerAbi = parseAbi([
  "struct In { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 amountIn; uint256 amountOutMinimum; uint160 sqrtPriceLimitX96; }",
  "function exactInputSingle(In params) payable returns (uint256 amountOut)",
]);
const mintAbi = parseAbi(["function mint(address to, uint256 amount) returns (bool)"]);

/** For each dollar token of chain one, its decimals and the fee tiers of its pools with WETH. */
const POOLS = [
  { token: contracts.usdc, decimals: 6, fees: [500, 3000, 10_000] },
  { token: contracts.usdt, decimals: 6, fees: [500, 3000] },
  { token: contracts.dai, decimals: 18, fees: [3000] },
] as const;

/**
 * Signs swaps of another account that make WETH more expensive on every path, but does not send
 * them. The swaps bring `usd` dollars into each pool.
 */
export const newWhale = async (
  one: OwnChain,
  router: Address,
  usd: string,
): Promise<readonly Hex[]> => {
  const account = testAccount();
  await one.client.setBalance({ address: account.address, value: parseEther("100") });
  let nonce = 0;
  const sign = (to: Address, data: Hex): Promise<Hex> =>
    account.signTransaction({
      chainId: one.chainId,
      to,
      data,
      nonce: nonce++,
      gas: 2_000_000n,
      maxFeePerGas: parseGwei("500"),
      maxPriorityFeePerGas: parseGwei("5"),
    });
  for (const { token, decimals, fees } of POOLS) {
    const total = parseUnits(usd, decimals) * BigInt(fees.length);
    const mint = encodeFunctionData({
      abi: mintAbi,
      functionName: "mint",
      args: [account.address, total],
    });
    const approve = encodeFunctionData({
      abi: erc20Abi,
      functionName: "approve",
      args: [router, total],
    });
    for (const data of [mint, approve])
      await one.client.sendRawTransaction({ serializedTransaction: await sign(token, data) });
  }
  await one.mine(1);
  const raws: Hex[] = [];
  for (const { token, decimals, fees } of POOLS) {
    for (const fee of fees) {
      const params = {
        tokenIn: token,
        tokenOut: contracts.weth,
        fee,
        recipient: account.address,
        amountIn: parseUnits(usd, decimals),
        amountOutMinimum: 0n,
        sqrtPriceLimitX96: 0n,
      };
      const data = encodeFunctionData({
        abi: routerAbi,
        functionName: "exactInputSingle",
        args: [params],
      });
      raws.push(await sign(router, data));
    }
  }
  return raws;
};

const spokePoolAbi = parseAbi([
  "function depositV3(address depositor, address recipient, address inputToken, address outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, address exclusiveRelayer, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityDeadline, bytes message) payable",
]);

/**
 * Makes a deposit of another account from chain one to chain two, which uses the next deposit
 * number of chain one.
 */
export const depositOfSomebody = async (
  one: OwnChain,
  two: OwnChain,
  recipient: Address,
): Promise<void> => {
  const account = testAccount();
  const amount = parseUnits("1", 6);
  await one.client.setBalance({ address: account.address, value: parseEther("10") });
  const { timestamp } = await one.client.getBlock();
  const now = Number(timestamp);
  const calls: readonly (readonly [Address, Hex])[] = [
    [
      contracts.usdc,
      encodeFunctionData({
        abi: mintAbi,
        functionName: "mint",
        args: [account.address, amount],
      }),
    ],
    [
      contracts.usdc,
      encodeFunctionData({
        abi: erc20Abi,
        functionName: "approve",
        args: [contracts.spokePool, amount],
      }),
    ],
    [
      contracts.spokePool,
      encodeFunctionData({
        abi: spokePoolAbi,
        functionName: "depositV3",
        args: [
          account.address,
          recipient,
          contracts.usdc,
          contracts.usdc,
          amount,
          amount,
          BigInt(two.chainId),
          zeroAddress,
          now,
          now + 3_600,
          0,
          "0x",
        ],
      }),
    ],
  ];
  for (const [index, [to, data]] of calls.entries()) {
    const serializedTransaction = await account.signTransaction({
      chainId: one.chainId,
      to,
      data,
      nonce: index,
      gas: 500_000n,
      maxFeePerGas: parseGwei("500"),
      maxPriorityFeePerGas: parseGwei("5"),
    });
    const hash = await one.client.sendRawTransaction({ serializedTransaction });
    await one.mine(1);
    expect((await one.client.getTransactionReceipt({ hash })).status).toBe("success");
  }
};
