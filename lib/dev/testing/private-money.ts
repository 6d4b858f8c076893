import { bindDeps } from "@/lib/core/bind-deps";
import { feeFloor, grossUp } from "@/lib/core/fees";
import type { PrivateTransfer } from "@/lib/money/privacy/rows";
import type { FeeExcess } from "@/lib/core/capped-fees";
import { createGasWaitRepository } from "@/lib/money/operations/state-repository";
import { createPrivacyRepository } from "@/lib/money/privacy/repository";
import { createPrivacyRunner } from "@/lib/money/privacy/runner";
import { NotWantedError } from "@/lib/chain/transactions/service";
import type { Services } from "@/lib/composition";
import { parseAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { Tx } from "@/lib/platform/db/client";
import type { PrivacyEngine, PrivacyPool, PrivateWalletKey } from "@/lib/money/ports/privacy";
import type { EvmAddress } from "@/lib/core/evm";
import type { NewTransaction, SentTransaction } from "@/lib/chain/ports/transactions";
import { testApi } from "./api";
import { createFakePrivacyEngine } from "./fake-privacy-engine";
import { createFakePrivacyWorld, type FakePrivacyWorld } from "./fake-privacy-world";

type Hex = `0x${string}`;

const CHAIN = 31337;
const EXECUTOR: EvmAddress = "0x00000000000000000000000000000000000E8ec0";
/** An account whose deposits are declined. */
const DECLINED: EvmAddress = "0x00000000000000000000000000000000000dEC11";
const SHIELD_FEE_BPS = 10;
const RELAY_FEE_BPS = 25;
/**
 * Number of worker turns after which `settle` gives up. After each turn its transactions are mined.
 */
const LOOKS_MAX = 60;

/**
 * A fake of the executor's transactions. It keeps them in memory, but stores the caller's claim in
 * the real database. A transaction is mined when the test requests it.
 */
const createFakeTransactions = (world: FakePrivacyWorld, services: () => Services) => {
  const stored = new Map<
    string,
    { sent: SentTransaction; readonly transaction: NewTransaction }
  >();
  const find = (_chainId: number, purpose: string): Promise<SentTransaction | null> =>
    Promise.resolve(stored.get(purpose)?.sent ?? null);
  return {
    stored,
    find,
    chooseKey: () => Promise.resolve({ keyId: "executor", address: EXECUTOR }),
    send: async (
      transaction: NewTransaction,
      claim?: (tx: Tx) => Promise<boolean>,
    ): Promise<SentTransaction> => {
      const known = stored.get(transaction.purpose);
      if (known !== undefined) return known.sent;
      const isWanted = claim === undefined || (await services().database.transaction(claim));
      if (!isWanted) throw new NotWantedError("The transaction is not wanted any more.");
      const hash: Hex = `0x${transaction.data.slice(2, 66)}`;
      const sent: SentTransaction = {
        id: transaction.purpose,
        hash,
        status: "broadcast",
        minedHash: null,
      };
      stored.set(transaction.purpose, { sent, transaction });
      return sent;
    },
    /** Mines a transaction as final. @returns its hash */
    mine: (purpose: string): Hex => {
      const entry = stored.get(purpose);
      if (entry === undefined) throw new Error(`Nothing was sent as ${purpose}.`);
      const minedHash = world.mine(EXECUTOR, entry.transaction);
      entry.sent = { ...entry.sent, status: "final", minedHash };
      return minedHash;
    },
  };
};

/** @throws when there is no private wallet with this id */
const walletKeyOf = async (
  { database, privacy }: Services,
  walletId: string,
): Promise<PrivateWalletKey> =>
  privacy.wallets.keyOf(
    await database.prisma.privacyWallet.findFirstOrThrow({ where: { id: walletId } }),
  );

interface Money {
  readonly services: Services;
  readonly world: FakePrivacyWorld;
  readonly engine: PrivacyEngine;
}

const signal = (): AbortSignal => new AbortController().signal;

/** Gives a private wallet a note of exactly this worth. */
const deposit = async (
  { services, world, engine }: Money,
  walletId: string,
  symbol: string,
  amount: string,
  state = "approved",
): Promise<void> => {
  const wallet = await walletKeyOf(services, walletId);
  const token = services.registry.resolveToken(CHAIN, symbol);
  const pool = world.poolOf(token);
  const index =
    (await engine.holdings(wallet, CHAIN, signal())).nextDepositIndex.get(pool.address) ?? 0;
  const amountBase = grossUp(parseAmount(amount, token.decimals), feeFloor(SHIELD_FEE_BPS));
  const { calls } = await engine.shield({
    chainId: CHAIN,
    token,
    amountBase,
    slot: { wallet, index },
  });
  const depositor = state === "approved" ? EXECUTOR : DECLINED;
  if (depositor === DECLINED) world.declineDepositsOf(DECLINED);
  for (const call of calls) world.mine(depositor, call);
  world.approveDeposits();
};

/** Returns a function that spends a note of the wallet, like somebody who has the mnemonic. */
const stealer = async ({ services, world, engine }: Money, walletId: string) => {
  const wallet = await walletKeyOf(services, walletId);
  return async (noteId: string): Promise<void> => {
    const { notes } = await engine.holdings(wallet, CHAIN, signal());
    const note = notes.find(({ id }) => id === noteId);
    if (note === undefined) throw new Error("There is no such note.");
    const own = {
      chainId: CHAIN,
      token: note.token,
      wallet,
      noteId,
      withdrawBase: note.valueBase,
    };
    world.mine(
      EXECUTOR,
      await engine.prove({ ...own, to: "address", recipient: EXECUTOR }, signal()),
    );
  };
};

interface Hooks {
  /** Called after a proof, before the worker uses it. */
  afterProof: () => Promise<void>;
  /** Called before a transaction is stored. */
  beforeSending: () => Promise<void>;
  /**
   * Returns the price and the cap while the chain's price is above its cap, and otherwise null.
   */
  aboveCap: () => FeeExcess | null;
}

const createHooks = (): Hooks => ({
  afterProof: () => Promise.resolve(),
  beforeSending: () => Promise.resolve(),
  aboveCap: () => null,
});

const poolOf = (token: Token, address: EvmAddress): PrivacyPool => {
  const minimumBase = 10n ** BigInt(token.decimals);
  const fees = { shieldFeeBps: SHIELD_FEE_BPS, relayFeeBps: RELAY_FEE_BPS };
  return { chainId: CHAIN, token, address, minimumBase, ...fees, mayProcess: true };
};

/**
 * Private balances with the whole API and a real database, and an engine that needs neither chains
 * nor proofs.
 * @param options.devnet whether the local chains are reachable, for the gas of operations of the
 * treasury
 */
export const privateMoney = async (
  variables: Readonly<Record<string, string>> = {},
  { devnet = false }: { readonly devnet?: boolean } = {},
) => {
  const clock = { aheadMs: 0, now: () => new Date(Date.now() + clock.aheadMs) };
  /** The clock of the worker only, so that people stay signed in while it waits. */
  const workerClock = { aheadMs: 0, now: () => new Date(Date.now() + workerClock.aheadMs) };
  const pools: PrivacyPool[] = [];
  const world = createFakePrivacyWorld({ pools, now: workerClock.now });
  const fake = createFakePrivacyEngine(world);
  const hooks = createHooks();
  const privacyEngine: PrivacyEngine = {
    ...fake,
    prove: async (...input) => {
      const made = await fake.prove(...input);
      await hooks.afterProof();
      return made;
    },
  };
  const api = await testApi({ devnet, overrides: { clock, privacyEngine }, variables });
  const { services } = api;
  const tokenOf = (symbol: string) => services.registry.resolveToken(CHAIN, symbol);
  pools.push(poolOf(tokenOf("USDC"), "0x00000000000000000000000000000000000000B1"));
  pools.push(poolOf(tokenOf("DAI"), "0x00000000000000000000000000000000000000B2"));
  const transactions = createFakeTransactions(world, () => services);
  const repository = createPrivacyRepository(services.database);
  const logged: string[] = [];
  const newRunner = () =>
    createPrivacyRunner({
      repository,
      privateWallets: services.privacy.wallets,
      engine: privacyEngine,
      transactions: {
        ...transactions,
        send: async (...input) => {
          await hooks.beforeSending();
          return transactions.send(...input);
        },
      },
      wallets: services.wallets,
      gasWaits: createGasWaitRepository(services.database),
      lostMoves: services.signing,
      fees: () =>
        Promise.resolve({
          maxFeePerGas: 1n,
          maxPriorityFeePerGas: 1n,
          aboveCap: hooks.aboveCap(),
        }),
      isAllowed: services.policyEngine.isAllowed,
      screenAgain: services.policyEngine.screenAgain,
      pollIntervalMs: () => 0,
      log: {
        warn: (fields, message) => void logged.push(JSON.stringify({ ...fields, message })),
      },
      clock: workerClock,
    });
  const runner = newRunner();
  const own: Money = { services, world, engine: fake };

  return {
    api,
    services,
    world,
    clock,
    workerClock,
    hooks,
    transactions,
    logged,
    newRunner,
    chainId: CHAIN,
    tokenOf,
    /** Runs one turn of a worker. */
    look: (operationId: string) => runner.run(operationId, signal()),
    /** Drives an operation until it is final, and mines all of its transactions. */
    settle: async (operationId: string): Promise<void> => {
      for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
        if ((await runner.run(operationId, signal())).done) return;
        for (const [purpose, { sent }] of transactions.stored)
          if (sent.minedHash === null && purpose.includes(operationId))
            transactions.mine(purpose);
      }
      throw new Error("The operation does not end.");
    },
    deposit: bindDeps(own, deposit),
    stealer: bindDeps(own, stealer),
    stepsOf: async ({
      projectId,
      operationId,
    }: Pick<PrivateTransfer, "projectId" | "operationId">) =>
      repository.steps(projectId, operationId),
  };
};
