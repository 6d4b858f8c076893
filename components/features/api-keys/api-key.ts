import type { listApiKeys } from "@/lib/contracts/api-keys";
import type { ResponseOf } from "@/lib/contracts/contract";

export type ApiKey = ResponseOf<typeof listApiKeys>["data"][number];
