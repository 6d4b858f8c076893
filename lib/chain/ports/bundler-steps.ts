import { encodeFunctionData, erc20Abi } from "viem";
import { vi } from "vitest";
import { isDomainError } from "@/lib/core/errors";
import type { Bundler, UserOperation, UserOperationReceipt } from "./bundler";
import type { Call, EvmAddress } from "@/lib/core/evm";
import type { SignerScope } from "./signer";
import type { SmartAccounts } from "./smart-accounts";

/**
 * A real chain with a bundler, smart accounts, and a token whose transfers revert when the balance
 * is too low.
 */
export interface BundlerHarness {
  readonly chainId: number;
  readonly bundler: Bundler;
  readonly accounts: SmartAccounts;
  readonly token: EvmAddress;
  readonly hasPaymaster: boolean;
  newOwner(): Promise<{ address: EvmAddress; scope: SignerScope }>;
  giveToken(to: EvmAddress, amountBase: bigint): Promise<void>;
  giveNative(to: EvmAddress, wei: bigint): Promise<void>;
  tokenBalance(of: EvmAddress): Promise<bigint>;
  nativeBalance(of: EvmAddress): Promise<bigint>;
  blockNumber(): Promise<bigint>;
  chainTime(): Promise<Date>;
}

export interface Wallet {
  readonly owner: EvmAddress;
  readonly scope: SignerScope;
  readonly address: EvmAddress;
}

export interface Wish {
  readonly wallet: Wallet;
  readonly calls: readonly Call[];
  readonly key: bigint;
  readonly sponsored?: boolean;
  readonly validForMs?: number;
}

const ONE_ETHER = 10n ** 18n;
const RECEIPT_WAIT_MS = 20_000;
const HOUR_MS = 3_600_000;

/** The code of the domain error that `work` rejects with; `no error` when `work` succeeds. */
export const codeOf = async (work: Promise<unknown>): Promise<string> => {
  const outcome = await work.then(
    () => "no error",
    (error: unknown) => error,
  );
  return isDomainError(outcome) ? outcome.code : String(outcome);
};

/**
 * Helpers of the contract tests: create funded wallets, and draft, sign, submit and await user
 * operations.
 */
export const createBundlerSteps = (chain: BundlerHarness) => {
  let recipients = 0x1000n;

  const newRecipient = (): EvmAddress => {
    recipients += 1n;
    return `0x${(BigInt(Date.now()) * 0x100000n + recipients).toString(16).padStart(40, "0")}`;
  };

  const transfer = (to: EvmAddress, amountBase: bigint): Call => ({
    to: chain.token,
    data: encodeFunctionData({
      abi: erc20Abi,
      functionName: "transfer",
      args: [to, amountBase],
    }),
    value: 0n,
  });

  const newWallet = async (tokens: bigint, wei = ONE_ETHER): Promise<Wallet> => {
    const { address: owner, scope } = await chain.newOwner();
    const address = await chain.accounts.addressOf(owner);
    if (tokens > 0n) await chain.giveToken(address, tokens);
    if (wei > 0n) await chain.giveNative(address, wei);
    return { owner, scope, address };
  };

  const draft = async ({
    wallet,
    calls,
    key,
    sponsored = false,
  }: Wish): Promise<UserOperation> =>
    chain.accounts.draft({
      chainId: chain.chainId,
      ownerAddress: wallet.owner,
      calls,
      nonceKey: key,
      fees: await chain.bundler.fees(chain.chainId),
      sponsored,
    });

  const prepare = async (wish: Wish) => {
    const drafted = await draft(wish);
    const gas = await chain.bundler.estimateGas(chain.chainId, drafted);
    const validUntil = new Date(
      (await chain.chainTime()).getTime() + (wish.validForMs ?? HOUR_MS),
    );
    return chain.accounts.prepare({ chainId: chain.chainId, draft: drafted, gas, validUntil });
  };

  const signed = async (wish: Wish): Promise<UserOperation> =>
    chain.accounts.sign(wish.wallet.scope, await prepare(wish));

  /**
   * Signs the operation again without its factory, after another operation deployed the account.
   * The gas limits stay the same.
   */
  const redeployed = async (
    wallet: Wallet,
    operation: UserOperation,
  ): Promise<UserOperation> => {
    const prepared = chain.accounts.prepare({
      chainId: chain.chainId,
      draft: withoutFactory(operation),
      gas: gasOf(operation),
      validUntil: new Date((await chain.chainTime()).getTime() + HOUR_MS),
    });
    return chain.accounts.sign(wallet.scope, prepared);
  };

  const submit = async (operation: UserOperation): Promise<`0x${string}`> =>
    (await chain.bundler.submit(chain.chainId, operation)).userOpHash;

  const submitAll = async (operations: readonly UserOperation[]) => {
    const fromBlock = await chain.blockNumber();
    return { fromBlock, hashes: await Promise.all(operations.map(submit)) };
  };

  const received = (userOpHash: `0x${string}`, fromBlock = 0n): Promise<UserOperationReceipt> =>
    vi.waitFor(
      async () => {
        const receipt = await chain.bundler.receipt(chain.chainId, userOpHash, fromBlock);
        if (receipt === null) throw new Error("not mined yet");
        return receipt;
      },
      { timeout: RECEIPT_WAIT_MS, interval: 50 },
    );

  const run = async (wish: Wish): Promise<UserOperationReceipt> =>
    received(await submit(await signed(wish)));

  return {
    newRecipient,
    transfer,
    newWallet,
    draft,
    prepare,
    signed,
    redeployed,
    submit,
    submitAll,
    received,
    run,
  };
};

export type BundlerSteps = ReturnType<typeof createBundlerSteps>;

/** A copy of the operation without the factory, for a deployed account. */
export const withoutFactory = (operation: UserOperation): UserOperation => {
  const copy: { -readonly [Field in keyof UserOperation]: UserOperation[Field] } = {
    ...operation,
  };
  delete copy.factory;
  delete copy.factoryData;
  return copy;
};

const gasOf = (operation: UserOperation) => ({
  callGasLimit: operation.callGasLimit,
  verificationGasLimit: operation.verificationGasLimit,
  preVerificationGas: operation.preVerificationGas,
  paymasterVerificationGasLimit: operation.paymasterVerificationGasLimit ?? 0n,
  paymasterPostOpGasLimit: operation.paymasterPostOpGasLimit ?? 0n,
});
