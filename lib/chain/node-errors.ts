/**
 * Maps the errors of nodes to the codes of EIP-1474. Nodes use -32000 for nearly every error, and
 * -32005 both for too many requests and for too large ones, so the error texts decide. Only this
 * file reads error texts.
 */
import { RpcRequestError } from "viem";

/**
 * Code of EIP-1474 for a node that does not have the requested block or state. Another node may
 * have it.
 */
export const STATE_MISSING = -32001;
/** The code with which several providers refuse requests above an account's rate limit. */
export const RATE_LIMITED = -32029;
/** HTTP status with which providers refuse requests above an account's rate limit. */
export const TOO_MANY_REQUESTS = 429;

const REVERT = 3;
const STATE_CODES: ReadonlySet<number> = new Set([-32000, STATE_MISSING, -32002, -32603]);
const LIMIT_CODES: ReadonlySet<number> = new Set([-32005, -32016, RATE_LIMITED, 429]);

const REVERTED = /revert/i;
/**
 * Matches the wordings with which geth, Erigon, Nethermind, Besu, Reth, anvil and providers say
 * that a block or state is missing.
 */
const STATE_WORDS =
  /header (?:for hash )?not found|unknown block|block (?:\S+ )?(?:not found|is not available|could not be found)|blocks? .*cannot be found|missing trie node|(?:world |historical )?state (?:\S+ )?(?:is )?(?:not (?:yet )?available|unavailable|not found|recreation)|no historical (?:rpc|state)|has been pruned|pruned history|BlockOutOfRange|node is (?:still )?syncing|not synced/i;
const RATE_WORDS = /rate.?limit|too many requests|request rate|throttl|compute units|quota/i;
/** Matches error texts of nodes for which a smaller request helps. */
const SIZE_WORDS = /range|results?\b|blocks?\b|logs?\b|response size|batch|payload/i;

const isRevert = ({ code, message }: NodeAnswer): boolean =>
  code === REVERT || REVERTED.test(message);

interface NodeAnswer {
  readonly code: number;
  readonly message: string;
}

/** The code for the meaning of the error: `STATE_MISSING`, `RATE_LIMITED`, or the original code. */
export const meantCode = (answer: NodeAnswer): number => {
  const { code, message } = answer;
  if (isRevert(answer)) return code;
  if (STATE_CODES.has(code) && STATE_WORDS.test(message)) return STATE_MISSING;
  const isLimit = LIMIT_CODES.has(code) && !SIZE_WORDS.test(message);
  return isLimit || RATE_WORDS.test(message) ? RATE_LIMITED : code;
};

const codesIn = (error: unknown): unknown[] => {
  const codes: unknown[] = [];
  for (
    let each = error;
    typeof each === "object" && each !== null;
    each = (each as { cause?: unknown }).cause
  )
    if (each instanceof RpcRequestError) codes.push(each.code);
  return codes;
};

/**
 * Whether a node lacks the block or state. Also recognises the error as the cause of
 * `chain_unavailable`.
 */
export const isStateMissing = (error: unknown): boolean =>
  codesIn(error).includes(STATE_MISSING);

/** Whether a node refuses requests because of a rate limit. */
export const isRateLimited = (error: unknown): boolean => codesIn(error).includes(RATE_LIMITED);
