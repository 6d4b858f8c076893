import type { ApiClient } from "@/lib/api-client/client";
import { isId } from "@/lib/core/ids";
import { listOperations } from "@/lib/contracts/operations";

/** How many of the newest operations are searched for a transaction hash. */
const SEARCHED = 100;

interface Jump {
  readonly label: string;
  /** The page to go to; null when there is none. */
  readonly find: (api: ApiClient) => Promise<string | null>;
  readonly notFound: string;
}

const findByHash = async (api: ApiClient, hash: string): Promise<string | null> => {
  const { data } = await api.call(listOperations, { query: { limit: SEARCHED } });
  const wanted = hash.toLowerCase();
  const operation = data.find((candidate) =>
    candidate.legs.some((leg) =>
      [leg.txHash, leg.destination?.txHash, leg.refund?.txHash].some((known) => known?.toLowerCase() === wanted),
    ),
  );
  return operation === undefined ? null : `/activity/${operation.operationId}`;
};

/** What a pasted text names: an operation, a transaction or an address. */
export const findJump = (text: string): Jump | null => {
  if (isId("operation", text)) {
    const href = `/activity/${text}`;
    return { label: `Operation ${text}`, find: () => Promise.resolve(href), notFound: "" };
  }
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) {
    return {
      label: "The operation with this transaction",
      find: (api) => findByHash(api, text).catch(() => null),
      notFound: `None of the newest ${String(SEARCHED)} operations has this transaction.`,
    };
  }
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) {
    const href = `/wallets?address=${text}`;
    return { label: "The wallet with this address", find: () => Promise.resolve(href), notFound: "" };
  }
  return null;
};
