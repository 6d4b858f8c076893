import {
  encodeFunctionData,
  erc20Abi,
  getAddress,
  maxUint256,
  parseAbi,
  type Address,
  type Hex,
} from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { createExecutorBundler } from "../../lib/adapters/executor/executor-bundler";
import { createSafeAccounts } from "../../lib/adapters/safe-account/safe-accounts";
import { distributeData, type DistributorRow } from "../../lib/chain/distributor";
import { bundleCallOf } from "../../lib/chain/erc4337/bundle-call";
import { probe } from "../../lib/chain/probe";
import { createChainRegistry } from "../../lib/chain/registry";
import { devAddress } from "../../lib/dev/devnet/accounts";
import { planDeployments } from "../../lib/dev/devnet/contracts";
import {
  startOperationChain,
  type OperationChain,
} from "../../lib/dev/testing/bundler-harness";
import { compileContract } from "../../lib/dev/testing/solidity";
import type { AccountWork } from "../../lib/chain/ports/smart-accounts";

const CHAIN_ID = 31_990;
const COUNTS = [100, 400] as const;
const ONE_BY_ONE = 20;
const VALID_SECONDS = 3600;
const GAS = 16_700_000n;
const NOBODY: Address = "0x000000000000000000000000000000000000dEaD";

/**
 * A contract like Disperse (https://disperse.app): the payer allows the contract to take the sum,
 * and the contract pays the recipients.
 */
const DISPERSE = `
// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;
interface IERC20 {
  function transfer(address to, uint256 value) external returns (bool);
  function transferFrom(address from, address to, uint256 value) external returns (bool);
}
contract Disperse {
  function disperseToken(IERC20 token, address[] calldata recipients, uint256[] calldata values) external {
    uint256 total = 0;
    for (uint256 i = 0; i < recipients.length; i++) total += values[i];
    require(token.transferFrom(msg.sender, address(this), total));
    for (uint256 i = 0; i < recipients.length; i++) require(token.transfer(recipients[i], values[i]));
  }
}`;
const disperseAbi = parseAbi([
  "function disperseToken(address token, address[] recipients, uint256[] values)",
]);
const mintAbi = parseAbi(["function mint(address to, uint256 amount) returns (bool)"]);

/**
 * Name of the lower bound: the gas that every method needs, for the token's transfers and one word
 * of call data for each.
 */
export const FLOOR = "floor: the token's transfers and their call data";
/**
 * Name of the lower bound for contract accounts: adds the gas of a user operation that does
 * nothing.
 */
export const FLOOR_OF_OPERATION = "floor with an empty user operation, shared out";

/** Gas per recipient: for recipients who did not hold the token before, and for those who did. */
export interface GasRow {
  readonly way: string;
  readonly rows: number;
  readonly newHolder: number;
  readonly holder: number;
}

const someone = (): Address => privateKeyToAddress(generatePrivateKey());
const newRows = (count: number): DistributorRow[] =>
  Array.from({ length: count }, (_, index) => ({
    recipient: someone(),
    amountBase: 12_345_678n + BigInt(index),
  }));

/** Returns the gas that the chain charges for call data. */
const calldataGas = (data: Hex): bigint => {
  let gas = 0n;
  for (let index = 2; index < data.length; index += 2)
    gas += data.startsWith("00", index) ? 4n : 16n;
  return gas;
};

const transferData = ({ recipient, amountBase }: DistributorRow): Hex =>
  encodeFunctionData({
    abi: erc20Abi,
    functionName: "transfer",
    args: [recipient, amountBase],
  });

/**
 * The payout methods to compare on one chain. Each sends the rows and returns the gas that its
 * transactions used.
 */
const waysOf = (
  chain: OperationChain,
  treasuryOwner: { keyId: string; projectId: string; address: Address },
) => {
  const { anvil, executor, token, entryPoint, paymaster, signer } = chain;
  const { client } = anvil;
  const config = chain.registry.get(CHAIN_ID);
  const { distributor } = planDeployments().contracts;
  const withDistributor = createChainRegistry([
    { ...config, contracts: { ...config.contracts, distributor } },
  ]);
  const never = (): never => {
    throw new Error("The benchmark sends by itself.");
  };
  const transactions = {
    chooseKey: never,
    find: never,
    send: never,
    resend: never,
    bundleTransactionsOf: never,
  };
  let attempts = 0n;

  const send = async (from: Address, to: Address | null, data: Hex, gas = GAS) => {
    const hash = await client.sendUnsignedTransaction({
      from,
      ...(to ? { to } : {}),
      data,
      gas,
    });
    const receipt = await client.waitForTransactionReceipt({ hash, pollingInterval: 10 });
    if (receipt.status !== "success") throw new Error(`A transaction reverted: ${hash}`);
    return receipt;
  };

  const byOperation = async (
    registry: typeof withDistributor,
    work: AccountWork,
  ): Promise<bigint> => {
    const accounts = createSafeAccounts({ registry, signer });
    const bundler = createExecutorBundler({
      registry,
      transactions,
      executorAddress: executor,
    });
    attempts += 1n;
    const fees = await bundler.fees(CHAIN_ID);
    const { keyId, projectId, address: ownerAddress } = treasuryOwner;
    const draft = await accounts.draft({
      ...work,
      chainId: CHAIN_ID,
      ownerAddress,
      nonceKey: attempts,
      fees,
    });
    const gas = await bundler.estimateGas(CHAIN_ID, draft);
    const { timestamp } = await client.getBlock();
    const validUntil = new Date((Number(timestamp) + VALID_SECONDS) * 1000);
    const prepared = accounts.prepare({ chainId: CHAIN_ID, draft, gas, validUntil });
    const operation = await accounts.sign({ keyId, projectId }, prepared);
    const call = bundleCallOf({ chainId: CHAIN_ID, entryPoint, paymaster, executor }, [
      operation,
    ]);
    const { gasUsed } = await send(executor, call.to, call.data);
    const used = await accounts.nonceUsed(CHAIN_ID, operation.sender, attempts);
    if (!used) throw new Error("The operation was not executed.");
    return gasUsed;
  };

  const holder = executor;
  return {
    send,
    mint: (to: Address) =>
      send(
        devAddress("deployer"),
        token,
        encodeFunctionData({ abi: mintAbi, functionName: "mint", args: [to, 10n ** 15n] }),
      ),
    oneByOne: async (rows: readonly DistributorRow[]): Promise<bigint> => {
      let gas = 0n;
      for (const row of rows)
        gas += (await send(holder, token, transferData(row), 200_000n)).gasUsed;
      return gas;
    },
    multiSend: (rows: readonly DistributorRow[]) =>
      byOperation(chain.registry, { payout: { token, rows } }),
    distributor: (rows: readonly DistributorRow[]) =>
      byOperation(withDistributor, { payout: { token, rows } }),
    /** Sends a user operation that does nothing. */
    empty: () =>
      byOperation(chain.registry, { calls: [{ to: NOBODY, data: "0x", value: 0n }] }),
    disperse: async (disperse: Address, rows: readonly DistributorRow[]): Promise<bigint> => {
      const args = [
        token,
        rows.map(({ recipient }) => recipient),
        rows.map(({ amountBase }) => amountBase),
      ] as const;
      const data = encodeFunctionData({
        abi: disperseAbi,
        functionName: "disperseToken",
        args,
      });
      return (await send(holder, disperse, data)).gasUsed;
    },
    /**
     * Computes the lower bound for these rows: the gas of the token's transfers, and of one word of
     * call data for each. Sends no transaction.
     */
    floor: async (from: Address, rows: readonly DistributorRow[]): Promise<bigint> => {
      const results = await probe(
        client,
        from,
        rows.map((row) => ({ to: token, data: transferData(row), gas: 100_000n })),
      );
      if (results.some(({ success }) => !success))
        throw new Error("A transfer of the floor failed.");
      const packed = distributeData(token, rows);
      return results.reduce((sum, { gasUsed }) => sum + gasUsed, 0n) + calldataGas(packed);
    },
  };
};

/**
 * Measures every method with new recipients, and then with the same recipients again. The
 * treasury's account is deployed before, so its deployment is not measured.
 */
export const benchGas = async (): Promise<GasRow[]> => {
  const chain = await startOperationChain(CHAIN_ID);
  try {
    const { client } = chain.anvil;
    await client.request({
      method: "anvil_autoImpersonateAccount" as never,
      params: [true] as never,
    });
    const scope = { keyId: "treasury", projectId: "prj_bench" };
    const { address } = await chain.signer.create(scope);
    const ways = waysOf(chain, { ...scope, address });
    const treasury = await createSafeAccounts({
      registry: chain.registry,
      signer: chain.signer,
    }).addressOf(address);
    await ways.mint(treasury);
    await ways.mint(chain.executor);
    const { contractAddress } = await ways.send(
      chain.executor,
      null,
      compileContract("Disperse", DISPERSE).bytecode,
    );
    const disperse = getAddress(contractAddress ?? "0x");
    const approval = {
      abi: erc20Abi,
      functionName: "approve",
      args: [disperse, maxUint256],
    } as const;
    await ways.send(chain.executor, chain.token, encodeFunctionData(approval));
    await ways.distributor(newRows(2));

    const empty = await ways.empty();
    const measured: GasRow[] = [];
    const measure = async (
      way: string,
      rows: readonly DistributorRow[],
      pay: (rows: readonly DistributorRow[]) => Promise<bigint>,
    ) => {
      const perRow = async (): Promise<number> =>
        Number((await pay(rows)) / BigInt(rows.length));
      measured.push({
        way,
        rows: rows.length,
        newHolder: await perRow(),
        holder: await perRow(),
      });
    };
    await measure("one by one (a plain account)", newRows(ONE_BY_ONE), ways.oneByOne);
    for (const count of COUNTS) {
      const rows = newRows(count);
      const floorNew = Number((await ways.floor(treasury, rows)) / BigInt(count));
      await measure("Safe MultiSend (user operation)", newRows(count), ways.multiSend);
      await measure("disperse contract (allowance beforehand)", newRows(count), (each) =>
        ways.disperse(disperse, each),
      );
      await measure("Distributor (user operation)", rows, ways.distributor);
      const floorHolder = Number((await ways.floor(treasury, rows)) / BigInt(count));
      measured.push({ way: FLOOR, rows: count, newHolder: floorNew, holder: floorHolder });
      const shared = Number(empty / BigInt(count));
      measured.push({
        way: FLOOR_OF_OPERATION,
        rows: count,
        newHolder: floorNew + shared,
        holder: floorHolder + shared,
      });
    }
    return measured;
  } finally {
    await chain.anvil.stop();
  }
};
