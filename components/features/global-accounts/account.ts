import { shorten } from "@/components/ui/address";
import type { getStatement, listEntries, listGlobalAccounts } from "@/lib/contracts/global-accounts";
import type { ResponseOf } from "@/lib/contracts/contract";

export type Account = ResponseOf<typeof listGlobalAccounts>["data"][number];
export type Entry = ResponseOf<typeof listEntries>["data"][number];
export type Statement = ResponseOf<typeof getStatement>;

const ID_HEAD = 7;

export const shortId = (id: string): string => shorten(id, ID_HEAD);

export const accountName = ({ name, id }: Pick<Account, "name" | "id">): string => name ?? `Account ${shortId(id)}`;
