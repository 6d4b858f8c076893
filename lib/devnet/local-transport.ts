import { http, type HttpTransport } from "viem";
import { rpcFetch } from "@/lib/chains/rpc-http";

export const LOCAL_TIMEOUT_MS = 5_000;

/** To a local chain, without repeats: whoever asks looks again anyway. */
export const localTransport = (rpcUrl: string): HttpTransport =>
  http(rpcUrl, { timeout: LOCAL_TIMEOUT_MS, retryCount: 0, fetchFn: rpcFetch as typeof fetch });
