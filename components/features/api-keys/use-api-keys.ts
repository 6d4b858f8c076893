import { apiPages } from "@/components/features/session/api-query";
import { useWholeList } from "@/components/features/session/use-lists";
import { listApiKeys } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";

export type ApiKey = ResponseOf<typeof listApiKeys>["data"][number];

/** All API keys, newest first, including revoked keys. */
export const apiKeysQuery = apiPages(listApiKeys, {});

export const useApiKeys = () => useWholeList(apiKeysQuery);
