/**
 * Adds the signing gate to everything that signs, sends or accepts a movement of money on a chain.
 */
import { createSigningRepository } from "@/lib/money/signing/repository";
import { createSigningGate, type SigningGate } from "@/lib/money/signing/service";
import type { ChainTransactionsService } from "@/lib/chain/transactions/service";
import type { Intent, PolicyEngine } from "@/lib/trust/policies/engine";
import type { Bundler } from "@/lib/chain/ports/bundler";
import type { Signer } from "@/lib/chain/ports/signer";
import type { Database } from "@/lib/platform/db/client";

export const buildSigningGate = (database: Database): SigningGate =>
  createSigningGate(createSigningRepository(database));

/**
 * Refuses to sign while signing is off. For transactions the last known state is used, because they
 * are signed inside a database transaction, after `gatedTransactions` has checked the gate.
 */
export const gatedSigner = (signer: Signer, gate: SigningGate): Signer => ({
  ...signer,
  signTypedData: async (scope, data) => {
    await gate.require();
    return signer.signTypedData(scope, data);
  },
  signMessage: async (scope, raw) => {
    await gate.require();
    return signer.signMessage(scope, raw);
  },
  signTransaction: (scope, transaction) => {
    gate.requireKnown();
    return signer.signTransaction(scope, transaction);
  },
});

/**
 * Neither signs nor sends the service's transactions while signing is off; stored ones are not sent
 * again either.
 */
export const gatedTransactions = (
  transactions: ChainTransactionsService,
  gate: SigningGate,
): ChainTransactionsService => ({
  ...transactions,
  send: async (...input) => {
    await gate.require();
    return transactions.send(...input);
  },
  resend: async (transactionId) => {
    await gate.require();
    return transactions.resend(transactionId);
  },
  reconcile: async (chainId) => {
    await gate.require();
    return transactions.reconcile(chainId);
  },
});

export const gatedBundler = (bundler: Bundler, gate: SigningGate): Bundler => ({
  ...bundler,
  submit: async (...input) => {
    await gate.require();
    return bundler.submit(...input);
  },
});

/**
 * Accepts no movement on a chain while signing is off, and none to a recipient whom a movement that
 * is missing from the database may have paid.
 */
export const gatedPolicies = (engine: PolicyEngine, gate: SigningGate): PolicyEngine => {
  const check = async ({ outflows, projectId, recipients }: Intent): Promise<void> => {
    if (outflows.some(({ isOnChain }) => isOnChain))
      await gate.requireUnpaid(projectId, recipients);
  };
  return {
    ...engine,
    refuse: async (intent, how) => {
      await check(intent);
      return engine.refuse(intent, how);
    },
    checking: async (intent, work) => {
      await check(intent);
      return engine.checking(intent, work);
    },
  };
};

/** Milliseconds after which a job that waits for signing runs again. */
const OFF_WAIT_MS = 5_000;
const LOOK_EVERY_MS = 500;

interface Turn {
  readonly done: boolean;
}

/**
 * Pauses a job while signing is off: nothing is driven, and nothing fails because of the wait. When
 * signing is turned off during a run, the run is aborted as if its lease were lost.
 */
export const pausedWhileOff =
  <Key, Result extends Turn>(
    gate: SigningGate,
    run: (key: Key, signal: AbortSignal) => Promise<Result>,
  ) =>
  async (
    key: Key,
    signal: AbortSignal,
  ): Promise<Result | { readonly done: false; readonly againInMs: number }> => {
    if (!(await gate.state()).isAllowed) return { done: false, againInMs: OFF_WAIT_MS };
    const off = new AbortController();
    const look = setInterval(() => {
      // When the database does not answer, the state of signing is unknown. The code that signs
      // checks it again.
      gate.state().then(
        ({ isAllowed }) => isAllowed || off.abort(),
        () => undefined,
      );
    }, LOOK_EVERY_MS);
    try {
      return await run(key, AbortSignal.any([signal, off.signal]));
    } finally {
      clearInterval(look);
    }
  };
