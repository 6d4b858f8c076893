import type { ApiClient } from "@/lib/api-client/client";
import { getPrivateTransfer, listOperations, listWallets } from "@/lib/api-client/calls.gen";
import { isId } from "@/lib/core/ids";

interface Jump {
  readonly label: string;
  /** The page to go to; null when there is none. */
  readonly find: (api: ApiClient) => Promise<string | null>;
  readonly notFound: string;
}

/** The newest operation that the search of the list finds. */
const findOperation = async (api: ApiClient, text: string): Promise<string | null> => {
  const { data } = await api.call(listOperations, { query: { q: text, limit: 1 } });
  return data[0] === undefined ? null : `/activity/${data[0].operationId}`;
};

/** A transfer's operation, or the private operation of this id. */
const findTransfer = async (api: ApiClient, id: string): Promise<string | null> => {
  const isPrivate = await api.call(getPrivateTransfer, { params: { id } }).then(
    () => true,
    () => false,
  );
  return isPrivate ? `/private/${id}` : findOperation(api, id);
};

/** A wallet of the project has its page; for anybody else's address there is what was sent there. */
const findAddress = async (api: ApiClient, address: string): Promise<string> => {
  const { data } = await api.call(listWallets, { query: { address: address.toLowerCase() } });
  return data.length > 0 ? `/wallets?address=${address}` : `/activity?q=${address}`;
};

/** Finds out whether a pasted text is an operation, a transfer, a transaction or an address. */
export const findJump = (text: string): Jump | null => {
  if (isId("operation", text)) {
    const href = `/activity/${text}`;
    return { label: `Operation ${text}`, find: () => Promise.resolve(href), notFound: "" };
  }
  if (isId("globalAccount", text)) {
    return { label: `Global account ${text}`, find: () => Promise.resolve(`/accounts/${text}`), notFound: "" };
  }
  if (isId("payout", text)) {
    return { label: `Payout ${text}`, find: () => Promise.resolve(`/payouts/${text}`), notFound: "" };
  }
  if (isId("transfer", text)) {
    return {
      label: `The operation of ${text}`,
      find: (api) => findTransfer(api, text).catch(() => null),
      notFound: "This transfer was not executed.",
    };
  }
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) {
    return {
      label: "The operation with this transaction",
      find: (api) => findOperation(api, text).catch(() => null),
      notFound: "No operation has this transaction.",
    };
  }
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) {
    return {
      label: "The wallet with this address, or what was sent there",
      find: (api) => findAddress(api, text).catch(() => `/activity?q=${text}`),
      notFound: "",
    };
  }
  return null;
};
