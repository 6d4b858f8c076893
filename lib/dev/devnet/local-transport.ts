import { http, type HttpTransport } from "viem";
import { rpcFetch } from "@/lib/chain/rpc-http";

export const LOCAL_TIMEOUT_MS = 5_000;

/**
 * A transport to a local chain without retries, because its callers repeat their requests anyway.
 */
export const localTransport = (rpcUrl: string): HttpTransport =>
  http(rpcUrl, { timeout: LOCAL_TIMEOUT_MS, retryCount: 0, fetchFn: rpcFetch as typeof fetch });
