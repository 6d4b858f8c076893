/**
 * Reads the payments of an executed user operation for display: token transfers from its logs,
 * coins from its calls.
 */
import {
  decodeFunctionData,
  getAddress,
  hexToBigInt,
  hexToNumber,
  parseAbi,
  size,
  slice,
  zeroAddress,
  type Address,
  type Hex,
} from "viem";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import { distributorAbi } from "@/lib/chain/distributor";

const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const TRANSFER_TOPICS = 3;

const accountAbi = parseAbi([
  "function executeUserOp(address to, uint256 value, bytes data, uint8 operation)",
  "function executeUserOpWithErrorString(address to, uint256 value, bytes data, uint8 operation)",
]);
const multiSendAbi = parseAbi(["function multiSend(bytes transactions)"]);

export interface SentCoins {
  readonly to: Address;
  readonly valueWei: bigint;
}

/**
 * Byte offsets of the fields in an entry of MultiSend's data: operation (1 byte), to (20), value
 * (32), length of data (32), data.
 */
const MULTI_SEND = { to: 1, value: 21, length: 53, data: 85 } as const;

const inMultiSend = (transactions: Hex): SentCoins[] => {
  const sent: SentCoins[] = [];
  for (let rest = transactions; size(rest) >= MULTI_SEND.data;) {
    const to = getAddress(slice(rest, MULTI_SEND.to, MULTI_SEND.value));
    sent.push({ to, valueWei: hexToBigInt(slice(rest, MULTI_SEND.value, MULTI_SEND.length)) });
    const end = MULTI_SEND.data + hexToNumber(slice(rest, MULTI_SEND.length, MULTI_SEND.data));
    rest = size(rest) > end ? slice(rest, end) : "0x";
  }
  return sent;
};

const WORD = 32;
const ADDRESS = 20;

/**
 * The coins that each row of the distributor's call data sends. A row is one word (recipient and 96
 * bits of amount), or two words (recipient padded on the right, and amount).
 */
const inRows = (rows: Hex, isWide: boolean): SentCoins[] => {
  const length = isWide ? 2 * WORD : WORD;
  return Array.from({ length: Math.floor(size(rows) / length) }, (_, index) => {
    const row = slice(rows, index * length, (index + 1) * length);
    return {
      to: getAddress(slice(row, 0, ADDRESS)),
      valueWei: hexToBigInt(slice(row, isWide ? WORD : ADDRESS)),
    };
  });
};

const inDelegated = (data: Hex): SentCoins[] => {
  try {
    const { functionName, args } = decodeFunctionData({
      abi: [...multiSendAbi, ...distributorAbi],
      data,
    });
    if (functionName === "multiSend") return inMultiSend(args[0]);
    if (functionName === "payCoin" || functionName === "payCoin256")
      return inRows(args[0], functionName === "payCoin256");
  } catch {
    // Another function was called. Its token transfers are in the logs.
  }
  return [];
};

/**
 * The coins that an account's call sends, including to contracts. Empty when the call cannot be
 * decoded.
 */
export const coinsIn = (callData: Hex): SentCoins[] => {
  try {
    const { args } = decodeFunctionData({ abi: accountAbi, data: callData });
    const [to, valueWei, data, operation] = args;
    return operation === 0 ? [{ to, valueWei }] : inDelegated(data);
  } catch {
    return [];
  }
};

export interface SeenPayment {
  readonly to: Address;
  readonly token: string;
  readonly symbol: string;
  /** In whole units; in base units for a token that is not configured. */
  readonly amount: string;
}

interface SeenLog {
  readonly address: Address;
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

const addressIn = (topic: Hex): Address => getAddress(slice(topic, WORD - ADDRESS));

const transferOf = ({ address, topics, data }: SeenLog, tokens: readonly Token[]) => {
  const [topic, from, to] = topics;
  if (
    topic !== TRANSFER ||
    topics.length !== TRANSFER_TOPICS ||
    from === undefined ||
    to === undefined
  )
    return null;
  if (size(data) < WORD) return null;
  const token = tokens.find((each) => each.address.toLowerCase() === address.toLowerCase());
  const amountBase = hexToBigInt(slice(data, 0, WORD));
  const amount =
    token === undefined ? amountBase.toString() : formatAmount(amountBase, token.decimals);
  return {
    from: addressIn(from),
    to: addressIn(to),
    token: getAddress(address),
    symbol: token?.symbol ?? address,
    amount,
  };
};

/**
 * The payments of an operation.
 * @param account the payer; null for all transfers in the logs
 */
export const paymentsIn = (
  {
    logs,
    callData,
    account,
  }: { logs: readonly SeenLog[]; callData: Hex; account: Address | null },
  { tokens, coin }: { tokens: readonly Token[]; coin: Token },
): readonly SeenPayment[] => {
  const transfers = logs.flatMap((log) => {
    const transfer = transferOf(log, tokens);
    if (transfer === null || transfer.to === zeroAddress) return [];
    const { from, ...payment } = transfer;
    return account === null || from === account ? [payment] : [];
  });
  const coins = coinsIn(callData)
    .filter(({ valueWei }) => valueWei > 0n)
    .map(({ to, valueWei }) => ({
      ...{
        to,
        token: "native",
        symbol: coin.symbol,
        amount: formatAmount(valueWei, coin.decimals),
      },
    }));
  return [...transfers, ...coins];
};

/**
 * Call data and logs in lower-case hex without 0x. It contains the address of every payee, for any
 * way of payment.
 */
export const payloadOf = (logs: readonly SeenLog[], callData: Hex): string =>
  [callData, ...logs.flatMap(({ topics, data }) => [...topics, data])]
    .map((hex) => hex.slice(2).toLowerCase())
    .join(" ");
