import { concatHex, encodePacked, erc20Abi, getContractAddress, keccak256, parseAbi, type Hex } from "viem";
import { encodeCall } from "@/lib/chains/encode-call";
import { distributeData } from "@/lib/chains/distributor";
import type { SafeContracts } from "@/lib/chains/safe-contracts";
import type { Call, EvmAddress } from "@/lib/ports/routing";
import type { AccountPayout } from "@/lib/ports/smart-accounts";

/** keccak256 of the proxy's creation code followed by the canonical singleton: the init code hash for CREATE2. */
export const CANONICAL_INIT_CODE_HASH: Hex = "0x76733d705f71b79841c0ee960a0ca880f779cde7ef446c989e6d23efc0a4adfb";

export const SALT_NONCE = 0n;
const THRESHOLD = 1n;
const NOBODY = "0x0000000000000000000000000000000000000000";
const OPERATION_CALL = 0;
const OPERATION_DELEGATECALL = 1;

const abi = parseAbi([
  "function enableModules(address[] modules)",
  "function multiSend(bytes transactions)",
  "function setup(address[] owners, uint256 threshold, address to, bytes data, address fallbackHandler, address paymentToken, uint256 payment, address paymentReceiver)",
  "function createProxyWithNonce(address singleton, bytes initializer, uint256 saltNonce)",
  "function executeUserOpWithErrorString(address to, uint256 value, bytes data, uint8 operation)",
]);

const packed = (call: Call, operation: number): Hex =>
  encodePacked(
    ["uint8", "address", "uint256", "uint256", "bytes"],
    [operation, call.to, call.value, BigInt((call.data.length - 2) / 2), call.data],
  );

const multiSend = (transactions: readonly Hex[]): Hex =>
  encodeCall({ abi, functionName: "multiSend", args: [concatHex(transactions)] });

/**
 * `setup` call of a Safe with one owner and the 4337 module as module and fallback handler, encoded as permissionless
 * does.
 */
const initializerOf = (owner: EvmAddress, contracts: SafeContracts): Hex => {
  const enableModules = encodeCall({ abi, functionName: "enableModules", args: [[contracts.module4337]] });
  const setupCalls = multiSend([
    packed({ to: contracts.moduleSetup, data: enableModules, value: 0n }, OPERATION_DELEGATECALL),
  ]);
  return encodeCall({
    abi,
    functionName: "setup",
    args: [[owner], THRESHOLD, contracts.multiSend, setupCalls, contracts.module4337, NOBODY, 0n, NOBODY],
  });
};

/** The call of the proxy factory that deploys the owner's account. */
export const deploymentOf = (owner: EvmAddress, contracts: SafeContracts): Call => ({
  to: contracts.proxyFactory,
  data: encodeCall({
    abi,
    functionName: "createProxyWithNonce",
    args: [contracts.singleton, initializerOf(owner, contracts), SALT_NONCE],
  }),
  value: 0n,
});

/** Counterfactual address (EIP-1014). */
export const addressOf = (owner: EvmAddress, contracts: SafeContracts, initCodeHash: Hex): EvmAddress => {
  const initializerHash = keccak256(initializerOf(owner, contracts));
  const salt = keccak256(encodePacked(["bytes32", "uint256"], [initializerHash, SALT_NONCE]));
  return getContractAddress({ opcode: "CREATE2", from: contracts.proxyFactory, salt, bytecodeHash: initCodeHash });
};

/**
 * Call data of the account: one call directly, several through MultiSendCallOnly, which reverts them all when one
 * reverts. The variant "WithErrorString" passes the revert reason on.
 */
export const encodeCalls = (calls: readonly Call[], contracts: SafeContracts): Hex => {
  const [first, ...rest] = calls;
  if (first === undefined) throw new Error("An operation needs at least one call.");
  const batch = (): Hex => multiSend(calls.map((call) => packed(call, OPERATION_CALL)));
  return encodeCall({
    abi,
    functionName: "executeUserOpWithErrorString",
    args:
      rest.length === 0
        ? [first.to, first.value, first.data, OPERATION_CALL]
        : [contracts.multiSendCallOnly, 0n, batch(), OPERATION_DELEGATECALL],
  });
};

const paymentCall = (token: AccountPayout["token"], { recipient, amountBase }: AccountPayout["rows"][number]): Call =>
  token === "native"
    ? { to: recipient, value: amountBase, data: "0x" }
    : {
        to: token,
        value: 0n,
        data: encodeCall({ abi: erc20Abi, functionName: "transfer", args: [recipient, amountBase] }),
      };

/**
 * Call data of the account for a payout: one call that is delegated to the chain's distributor, or plain calls where the chain has
 * none. The distributor's code runs as the account itself, so the caller must have compared it (`distributorFault`).
 */
export const encodePayout = (
  { token, rows }: AccountPayout,
  contracts: SafeContracts,
  distributor: EvmAddress | undefined,
): Hex => {
  if (rows.length === 0 || rows.some(({ amountBase }) => amountBase <= 0n))
    throw new Error("A payout needs at least one row, and each row an amount above zero.");
  if (distributor === undefined)
    return encodeCalls(
      rows.map((row) => paymentCall(token, row)),
      contracts,
    );
  return encodeCall({
    abi,
    functionName: "executeUserOpWithErrorString",
    args: [distributor, 0n, distributeData(token, rows), OPERATION_DELEGATECALL],
  });
};
