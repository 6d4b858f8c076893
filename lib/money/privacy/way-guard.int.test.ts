/**
 * Every private way in which money or a key can leave, under every rule and the project's vote
 * setting, for every caller.
 */
import { beforeAll, expect, test } from "vitest";
import { approveOperation, retryOperation } from "@/lib/contracts/operations";
import {
  createPrivacyWallet,
  exportPrivacyWallet,
  listPrivateExits,
  privateTransfer,
  startPrivateExit,
  unshield,
} from "@/lib/contracts/privacy";
import {
  executePrivateSwap,
  preparePrivateSwap,
  quotePrivateSwap,
} from "@/lib/contracts/privacy-swap";
import { withApproval } from "@/lib/dev/testing/approve";
import { testAccount } from "@/lib/dev/testing/factories";
import { privateMoney } from "@/lib/dev/testing/private-money";
import {
  callersOf,
  wrongEnds,
  type Attempt,
  type Callers,
  type Ways,
} from "@/lib/dev/testing/way-guard";
import { GUARD_NAMES, type Caller } from "@/lib/dev/testing/ways";

/** One note for each movement that a guard allows to wait or run, and one more for the fees. */
const NOTES = 18;
/** Longer than a step waits for its note. */
const HALF_HOUR_MS = 1_900_000;
/** The gas of a public exit is estimated on a real chain. */
const money = await privateMoney({}, { devnet: true });
const { api, chainId } = money;

let callers: Callers;
let walletId = "";
const usedNotes = new Set<string>();

const client = (caller: Caller) => callers.clients[caller];
const newWallet = async (): Promise<string> =>
  (await callers.owner.client.call(createPrivacyWallet, { body: { name: "Payroll" } })).id;

const operating = (
  caller: Caller,
  start: () => Promise<{ operationId: string }>,
): Required<Attempt> => {
  let operationId = "";
  return {
    begin: async () => void ({ operationId } = await start()),
    prove: async () => {
      const person = callers.personOf(caller);
      const otp = await callers.codeFor(caller, { operationId }, person);
      await person.call(approveOperation, { params: { id: operationId }, body: { otp } });
    },
  };
};

const outside = () => ({
  chainId,
  token: "USDC",
  amount: "20",
  privacyWalletId: walletId,
  toAddress: testAccount().address,
});

/**
 * A payment of an exempt key that failed, because the association set stayed different for longer
 * than a note waits.
 */
const failedTransfer = async (): Promise<string> => {
  const body = { ...outside(), acceptSmallSet: true };
  const { operationId } = await client("exempt key").call(privateTransfer, { body });
  money.world.publishOtherSet();
  await money.look(operationId);
  money.workerClock.aheadMs += HALF_HOUR_MS;
  await money.settle(operationId);
  money.world.approveDeposits();
  return operationId;
};

/** A note that only the public exit can take out. */
const declinedNote = async (): Promise<string> => {
  await money.deposit(walletId, "USDC", "9", "declined");
  const { data } = await callers.owner.client.call(listPrivateExits, {
    query: { privacyWalletId: walletId },
  });
  const note = data.find(({ noteId }) => !usedNotes.has(noteId));
  if (note === undefined) throw new Error("There is no such note.");
  usedNotes.add(note.noteId);
  return note.noteId;
};

const ways: Ways = {
  unshield: (caller) =>
    operating(caller, () => client(caller).call(unshield, { body: outside() })),
  privateTransfer: (caller) =>
    operating(caller, () =>
      client(caller).call(privateTransfer, { body: { ...outside(), acceptSmallSet: true } }),
    ),
  privateSwap: (caller) =>
    operating(caller, async () => {
      const body = { chainId, fromToken: "USDC", toToken: "DAI", amount: "20" };
      const { quoteId } = await client(caller).call(quotePrivateSwap, { body });
      await client(caller).call(preparePrivateSwap, {
        body: { quoteId, privacyWalletId: walletId },
      });
      return client(caller).call(executePrivateSwap, { body: { quoteId } });
    }),
  privateRetry: async (caller) => {
    const params = { id: await failedTransfer() };
    return operating(caller, async () => {
      const again = await client(caller).call(retryOperation, { params });
      if ("quoteId" in again) throw new Error("The retry is a quote.");
      return again;
    });
  },
  publicExit: async (caller) => {
    const noteId = await declinedNote();
    const body = { chainId, noteId, privacyWalletId: walletId };
    return operating(caller, () => client(caller).call(startPrivateExit, { body }));
  },
  keyExport: async (caller) => {
    const params = { id: await newWallet() };
    return {
      begin: () =>
        withApproval(callers.owner.account, (approval) =>
          client(caller).call(exportPrivacyWallet, {
            params,
            body: approval ? { approval } : {},
          }),
        ),
    };
  },
};

beforeAll(async () => {
  const session = await api.signIn();
  callers = await callersOf(api, { session, email: await api.verifiedEmail(session) });
}, 120_000);

test.each([null, ...GUARD_NAMES])(
  "under the guard %s every private way ends as the table says, for every caller",
  async (guard) => {
    walletId = await newWallet();
    for (let note = 0; note < NOTES; note += 1) await money.deposit(walletId, "USDC", "100");
    expect(await wrongEnds(api, callers, ways, guard)).toEqual([]);
  },
  300_000,
);
