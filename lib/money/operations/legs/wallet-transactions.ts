import type { SeenTransaction } from "@/lib/chain/smart-accounts/service";
import type {
  Failure,
  WalletTransaction,
  WalletTransactions,
} from "@/lib/money/operations/rows";
import {
  move,
  readWalletReceipt,
  type Step,
  type StepResult,
  stoppedChange,
  touch,
  walletTransactionsOf,
} from "./step";

/*
 * Follows transactions that a linked wallet sends. A node may not have seen them yet, and the
 * wallet may have raised their fee (another hash with the same nonce) or cancelled them (other
 * content with the same nonce). Only the account's nonce at a final block is certain: once another
 * transaction has used a nonce, the expected one can never be mined.
 */

/**
 * Seconds after which the service gives up a transaction without a deadline that no node has shown.
 * The failure message explains the risk.
 */
const UNSEEN_SECONDS_MAX = 1800;
/**
 * Seconds that are added to deadlines, because block timestamps may differ slightly from the real
 * time.
 */
const MARGIN_SECONDS = 15;
const NONCES_SEARCHED_MAX = 16;

interface Look {
  readonly transaction: WalletTransaction;
  /**
   * `dead`: another transaction used the nonce, so this transaction can never be mined. `lost`:
   * another transaction used the nonce or may have replaced this one, which cannot be determined
   * any more. `misnamed`: the reported hash belongs to a different transaction, so the state of
   * the requested transaction is unknown. `unseen`: no node shows the transaction now.
   */
  readonly state: "known" | "unseen" | "misnamed" | "dead" | "lost";
}

interface Looked {
  readonly looks: readonly Look[];
  readonly learned: boolean;
}

interface Search extends Step {
  readonly stored: WalletTransactions;
  /** The number of a block that is deep enough to be final. */
  readonly deepBlock: bigint;
  /** The account's next nonce as of `deepBlock`. */
  readonly deepNonce: number;
}

const CANCELLED: Failure = {
  code: "not_sent",
  message:
    "The wallet sent something else in place of the transaction, or took it back, so it can never be executed. The money is in the wallet.",
  retryable: true,
};

const EXPIRED: Failure = {
  code: "not_sent",
  message:
    "The wallet's transaction was not mined in time. Its own deadline is over, so it can move no money any more. The money is in the wallet.",
  retryable: true,
};

const UNSEEN: Failure = {
  code: "not_sent",
  message:
    "No node has seen the wallet's transaction for half an hour, so as far as the chain shows the money is in the wallet. If the wallet still shows it as pending, cancel it there before you try again: it has no deadline, could still be sent later, and would then not show in this record.",
  // Not retryable, because the money would move twice if the transaction were mined after a retry.
  retryable: false,
};

const LOST: Failure = {
  code: "not_sent",
  message:
    "The wallet sent other transactions since, and whether one of them took the place of the one that it named can no longer be told. It may have moved the money all the same: look at the wallet's history before you try again.",
  retryable: false,
};

const MISNAMED: Failure = {
  code: "not_sent",
  message:
    "The hash that was named belongs to another transaction, and the one that was asked for is not among what the wallet has sent since. As far as the chain shows the money is in the wallet, but the one that was asked for could still be sent, or be mined under a hash that nobody named: look at the wallet's history before you try again.",
  // Not retryable, because the money would move twice if the hash was wrong and the real
  // transaction were mined after a retry.
  retryable: false,
};

const GIVEN_UP = { unseen: UNSEEN, misnamed: MISNAMED, lost: LOST } as const;

/** Looks at all transactions when the nonce of one of them is unknown; otherwise returns null. */
export const lookAtUnknown = async (step: Step): Promise<Looked | null> => {
  const { transactions } = walletTransactionsOf(step.leg);
  return transactions.some(({ nonce }) => nonce === null) ? lookAtAll(step) : null;
};

/**
 * Looks for the wallet's transactions until they are mined or can no longer be mined.
 * @param looked the result of a look that this step has already done
 */
export const followWallet = async (step: Step, looked: Looked | null): Promise<StepResult> => {
  const { looks, learned } = looked ?? (await lookAtAll(step));
  if (learned) return "moved";
  // The last transaction moves the money, so its state decides.
  const failure = await whyNever(step, looks.at(-1)?.state ?? "dead");
  if (failure === null) return "waits";
  // A lagging node could show a mined transaction as not mined, so the providers must agree before
  // the leg fails.
  if ((await readWalletReceipt(step, "agreed")) !== null) return "moved";
  return move(
    step,
    "failed",
    "leg.failed",
    { failure, ...(await stoppedChange(step)) },
    { ...failure },
  );
};

const lookAtAll = async (step: Step): Promise<Looked> => {
  const { leg, chains, smartAccounts } = step;
  const stored = walletTransactionsOf(leg);
  const deepBlock = (await chains.finalNumber(leg.sourceChainId)) ?? 0n;
  const deepNonce = await smartAccounts.sent.count(
    leg.sourceChainId,
    leg.walletAddress,
    deepBlock,
  );
  const search: Search = { ...step, stored, deepBlock, deepNonce };
  const looks = await Promise.all(
    stored.transactions.map((transaction) => lookAt(search, transaction)),
  );
  const transactions = looks.map(({ transaction }) => transaction);
  const learned = transactions.some(
    (transaction, index) => transaction !== stored.transactions[index],
  );
  if (learned) await touch(step, { walletTransactions: { ...stored, transactions } });
  return { looks, learned };
};

const whyNever = async (step: Step, state: Look["state"]): Promise<Failure | null> => {
  const { leg, operation, chains, clock } = step;
  if (state === "dead") return CANCELLED;
  if (leg.validUntil !== null && state !== "lost") {
    const final = await chains.finalBlock(leg.sourceChainId);
    return final !== null &&
      Number(final.timestamp) > leg.validUntil.getTime() / 1000 + MARGIN_SECONDS
      ? EXPIRED
      : null;
  }
  if (state === "known") return null;
  const accepted = (operation.acceptedAt ?? operation.createdAt).getTime();
  if (clock.now().getTime() <= accepted + UNSEEN_SECONDS_MAX * 1000) return null;
  return GIVEN_UP[state];
};

const lookAt = async (search: Search, transaction: WalletTransaction): Promise<Look> => {
  const { smartAccounts, leg, deepNonce, stored } = search;
  const named = await smartAccounts.sent.find(leg.sourceChainId, transaction.hash);
  // When `execute` was called, the content could be compared only if a node had the transaction.
  // So the content is compared again here.
  const isIt =
    named !== null &&
    isSame(named, transaction, leg.walletAddress) &&
    named.nonce >= stored.fromNonce;
  // A node may still show a pending transaction whose nonce another final transaction has used.
  if (isIt && (named.blockNumber !== null || deepNonce <= named.nonce))
    return { transaction: withNonce(transaction, named.nonce), state: "known" };
  const nonce = isIt ? named.nonce : transaction.nonce;
  if (nonce === null) {
    const found = await findUnseen(search, transaction);
    if (found === "unknown") return { transaction, state: "lost" };
    if (found !== null) return { transaction: found, state: "known" };
    return { transaction, state: named === null ? "unseen" : "misnamed" };
  }
  if (deepNonce <= nonce) return { transaction, state: "unseen" };
  const instead = await replacement(search, transaction, nonce);
  if (instead === "unknown") return { transaction, state: "lost" };
  return instead === null
    ? { transaction, state: "dead" }
    : { transaction: instead, state: "known" };
};

const withNonce = (transaction: WalletTransaction, nonce: number): WalletTransaction =>
  transaction.nonce === nonce ? transaction : { ...transaction, nonce };

const isSame = (seen: SeenTransaction, wanted: WalletTransaction, wallet: string): boolean =>
  seen.from.toLowerCase() === wallet.toLowerCase() &&
  seen.to?.toLowerCase() === wanted.to.toLowerCase() &&
  seen.data.toLowerCase() === wanted.data.toLowerCase() &&
  seen.value === wanted.value;

/**
 * Looks for a mined transaction with the same nonce and content under another hash, because the
 * wallet may have raised the fee. Returns null when there is none, and `unknown` when the
 * transaction cannot be read, or belongs to another leg with the same calls.
 */
const replacement = async (
  { smartAccounts, legs, leg, stored, deepBlock }: Search,
  transaction: WalletTransaction,
  nonce: number,
): Promise<WalletTransaction | null | "unknown"> => {
  const chainId = leg.sourceChainId;
  const address = leg.walletAddress;
  const found = await smartAccounts.sent.findByNonce(chainId, {
    address,
    nonce,
    fromBlock: leg.fromBlock,
    toBlock: deepBlock,
  });
  if (found === "unknown") return found;
  if (found === null || !isSame(found, transaction, address)) return null;
  if (found.hash === transaction.hash) return withNonce(transaction, nonce);
  // The wallet may send two identical token approvals. A hash that is stored for one of them
  // cannot belong to the other.
  if (stored.transactions.some(({ hash }) => hash === found.hash)) return null;
  const { actionId } = transaction;
  // Another leg with the same calls may have taken this hash. Whether this leg's own transaction was
  // sent is then unknown.
  if (!(await legs.adoptTransaction({ chainId, hash: found.hash, actionId, legId: leg.id })))
    return "unknown";
  return { ...transaction, hash: found.hash, nonce };
};

/**
 * Searches the wallet's transactions since the request, because the wallet may have raised the fee
 * before a node saw the first version. Returns `unknown` when nothing was found but some
 * transactions could not be read.
 */
const findUnseen = async (
  search: Search,
  transaction: WalletTransaction,
): Promise<WalletTransaction | null | "unknown"> => {
  const { stored, deepNonce } = search;
  const end = Math.min(deepNonce, stored.fromNonce + NONCES_SEARCHED_MAX);
  let isComplete = end === deepNonce;
  for (let nonce = stored.fromNonce; nonce < end; nonce += 1) {
    if (stored.transactions.some((each) => each.nonce === nonce)) continue;
    const found = await replacement(search, transaction, nonce);
    if (found === "unknown") isComplete = false;
    else if (found !== null) return found;
  }
  return isComplete ? null : "unknown";
};
