import {
  type Account,
  type Address,
  concatHex,
  createPublicClient,
  createWalletClient,
  decodeErrorResult,
  encodeFunctionData,
  getAddress,
  getContractAddress,
  type Hex,
  http,
  numberToHex,
  pad,
  parseAbi,
  type PublicClient,
  size,
  zeroHash,
} from "viem";
import type { ChainRegistry } from "./registry";
import { DISTRIBUTOR_CODE } from "./solidity/distributor";

/**
 * Marks the start of the runtime code: INVALID, which ends the constructor, and the first
 * instruction of the runtime code, in hex.
 */
const RUNTIME_START = "fe6080";
const PUSH32 = "7f";
const EMPTY_WORD = "0".repeat(64);

/**
 * The runtime code of `Distributor.sol` at an address. The code contains this address (`self`) to
 * detect delegated calls.
 */
const distributorRuntimeCode = (address: Address): Hex => {
  const start = DISTRIBUTOR_CODE.indexOf(RUNTIME_START) + "fe".length;
  const runtime = DISTRIBUTOR_CODE.slice(start);
  const self = pad(address, { size: 32 }).slice(2).toLowerCase();
  return `0x${runtime.replaceAll(`${PUSH32}${EMPTY_WORD}`, `${PUSH32}${self}`)}`;
};

/**
 * The reason why no account may delegate a call to this address; null when delegation is safe.
 * Delegated code acts as the account and could take all its money, so only the exact code of this
 * release is accepted.
 */
export const distributorFault = async (
  client: Pick<PublicClient, "getCode">,
  address: Address,
): Promise<string | null> => {
  const code = (await client.getCode({ address })) ?? "0x";
  if (code === distributorRuntimeCode(address)) return null;
  const found = code === "0x" ? "has no code" : "is not the Distributor of this release";
  return (
    `the contract at ${getAddress(address)} ${found}, so no payout is signed for it. ` +
    "Correct `contracts.distributor` in the chains file, or leave it out: payouts then cost more gas."
  );
};

/**
 * Runs `distributorFault` for every chain with a configured distributor. Skips chains that do not
 * answer, because each payout checks again before it signs.
 */
export const distributorFaults = async (
  registry: Pick<ChainRegistry, "list" | "client">,
): Promise<readonly string[]> => {
  const faults = await Promise.all(
    registry.list().map(async ({ id, name, contracts: { distributor } }) => {
      if (distributor === undefined) return null;
      const fault = await distributorFault(registry.client(id), distributor).catch(() => null);
      return fault === null ? null : `${name}: ${fault}`;
    }),
  );
  return faults.filter((fault) => fault !== null);
};

export const distributorAbi = parseAbi([
  "function payToken(address token, bytes rows)",
  "function payToken256(address token, bytes rows)",
  "function payCoin(bytes rows)",
  "function payCoin256(bytes rows)",
  "error RowFailed(uint256 index)",
  "error NotDelegated()",
  "error BadLength()",
  "error NoToken()",
]);

export interface DistributorRow {
  readonly recipient: `0x${string}`;
  /** In base units, above zero. */
  readonly amountBase: bigint;
}

const PACKED_AMOUNT_MAX = 2n ** 96n - 1n;

/** One word per row: 160 bits of recipient, 96 bits of amount. */
const packed = ({ recipient, amountBase }: DistributorRow): Hex =>
  concatHex([recipient, numberToHex(amountBase, { size: 12 })]);

const wide = ({ recipient, amountBase }: DistributorRow): Hex =>
  concatHex([
    pad(recipient, { dir: "right", size: 32 }),
    numberToHex(amountBase, { size: 32 }),
  ]);

/**
 * Call data that pays every row or reverts. The account must delegate the call (Safe operation 1),
 * so that the account is the sender of the payments.
 * @param token address of an ERC-20 token, or `native` for the chain's coin
 */
export const distributeData = (
  token: `0x${string}` | "native",
  rows: readonly DistributorRow[],
): Hex => {
  const fits = rows.every(({ amountBase }) => amountBase <= PACKED_AMOUNT_MAX);
  const data = concatHex(rows.map(fits ? packed : wide));
  return token === "native"
    ? encodeFunctionData({
        abi: distributorAbi,
        functionName: fits ? "payCoin" : "payCoin256",
        args: [data],
      })
    : encodeFunctionData({
        abi: distributorAbi,
        functionName: fits ? "payToken" : "payToken256",
        args: [token, data],
      });
};

/**
 * Index of the row that made the batch revert, from the revert data; null when no row caused it.
 */
export const failedRowOf = (revertData: Hex): number | null => {
  if (size(revertData) < 4) return null;
  try {
    const { errorName, args } = decodeErrorResult({ abi: distributorAbi, data: revertData });
    return errorName === "RowFailed" ? Number(args[0]) : null;
  } catch {
    return null;
  }
};

/** Nick's CREATE2 deployer, at the same address on every public chain. */
const CREATE2_DEPLOYER: Address = "0x4e59b44847b379578588920cA78FbF26c0B4956C";

/** The address of the distributor on every chain. It depends only on the code (CREATE2). */
export const DISTRIBUTOR_ADDRESS: Address = getContractAddress({
  opcode: "CREATE2",
  from: CREATE2_DEPLOYER,
  salt: zeroHash,
  bytecode: DISTRIBUTOR_CODE,
});

interface DistributorDeployment {
  readonly chain: { readonly id: number; readonly name: string; readonly rpcUrl: string };
  /** Sends and pays for the transaction. It gets no rights over the contract; nobody has any. */
  readonly executor: Account;
}

/**
 * Deploys the distributor on a chain, unless it is already deployed.
 * @returns whether a transaction was sent
 * @throws Error naming the contract or funds that the chain lacks
 */
export const deployDistributor = async ({
  chain,
  executor,
}: DistributorDeployment): Promise<boolean> => {
  const transport = http(chain.rpcUrl);
  const reader = createPublicClient({ transport });
  const chainId = await reader.getChainId();
  if (chainId !== chain.id)
    throw new Error(`${chain.rpcUrl} is chain ${String(chainId)}, not ${String(chain.id)}.`);
  if ((await distributorFault(reader, DISTRIBUTOR_ADDRESS)) === null) return false;
  if (((await reader.getCode({ address: CREATE2_DEPLOYER })) ?? "0x") === "0x")
    throw new Error(`${chain.name} has no CREATE2 deployer at ${CREATE2_DEPLOYER}.`);
  const wallet = createWalletClient({ account: executor, transport });
  const data = concatHex([zeroHash, DISTRIBUTOR_CODE]);
  const hash = await wallet.sendTransaction({ to: CREATE2_DEPLOYER, data, chain: null });
  const { status } = await reader.waitForTransactionReceipt({ hash });
  if (status !== "success") throw new Error(`The deployment reverted (${hash}).`);
  const fault = await distributorFault(reader, DISTRIBUTOR_ADDRESS);
  if (fault !== null) throw new Error(`${chain.name}: ${fault}`);
  return true;
};
