/**
 * The effect of a JSON-RPC method on a local chain:
 * - `read`: no lasting effect;
 * - `transaction`: puts a transaction into the pool, and the next block includes it;
 * - `state`: changes the chain or the pool, and sending the call again reproduces the change;
 * - `mine`, `clock`: makes blocks, or moves the time of the next one;
 * - `opaque`: changes the chain in a way that sending the call again does not reproduce, so only a
 * dump preserves the change;
 * - `refused`: answered with an error, because the node would make blocks by itself, or would wait
 * for a block that is made after the call.
 */
export type CallKind =
  | "read"
  | "transaction"
  | "state"
  | "mine"
  | "clock"
  | "opaque"
  | "refused";

const TRANSACTIONS = new Set([
  "eth_sendRawTransaction",
  "eth_sendTransaction",
  "eth_sendUnsignedTransaction",
]);

const REFUSED = new Set([
  "eth_sendRawTransactionSync",
  "eth_sendTransactionSync",
  "wallet_sendTransaction",
  "setIntervalMining",
  "setAutomine",
  "setBlockTimestampInterval",
  "removeBlockTimestampInterval",
]);

/**
 * Names of methods without a lasting effect. The names have no prefix, because anvil knows most
 * methods under `anvil_`, `hardhat_` and `evm_`.
 */
const READ = new Set([
  "nodeInfo",
  "metadata",
  "dumpState",
  "getAutomine",
  "getIntervalMining",
  "getBlobsByTransactionHash",
  "getBlobByHash",
  "enableTraces",
  "setLoggingEnabled",
  "setRpcUrl",
  // A snapshot has no lasting effect, because its id is valid only until the node restarts.
  "snapshot",
]);
const STATE = new Set([
  "setBalance",
  "addBalance",
  "setCode",
  "setNonce",
  "setAccountNonce",
  "setStorageAt",
  "dealERC20",
  "dealErc20",
  "setERC20Allowance",
  "setErc20Allowance",
  "setCoinbase",
  "setBlockGasLimit",
  "setMinGasPrice",
  "setNextBlockBaseFeePerGas",
  "impersonateAccount",
  "stopImpersonatingAccount",
  "autoImpersonateAccount",
  "dropTransaction",
  "dropAllTransactions",
  "removePoolTransactions",
]);
const MINE = new Set(["mine", "mine_detailed"]);
const CLOCK = new Set(["increaseTime", "setTime", "setNextBlockTimestamp"]);

const NODE_PREFIX = /^(?:anvil|hardhat|evm)_/;
const READ_PREFIX = /^(?:eth|net|web3|txpool|debug|trace|ots|erigon|rpc|wallet)_/;

/** Removes the prefix of a method that anvil knows under several prefixes. */
export const plainName = (method: string): string => method.replace(NODE_PREFIX, "");

export const kindOf = (method: string): CallKind => {
  if (TRANSACTIONS.has(method)) return "transaction";
  if (REFUSED.has(method)) return "refused";
  if (!NODE_PREFIX.test(method)) return READ_PREFIX.test(method) ? "read" : "opaque";
  const name = plainName(method);
  if (REFUSED.has(name)) return "refused";
  if (READ.has(name)) return "read";
  if (STATE.has(name)) return "state";
  if (MINE.has(name)) return "mine";
  return CLOCK.has(name) ? "clock" : "opaque";
};
