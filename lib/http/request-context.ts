import type { RequestContext } from "@/lib/core/request-context";
import { addressBucket } from "./client-address";

const USER_AGENT_LENGTH_MAX = 300;

/** @param address of the caller behind the trusted proxies; empty when it is not known */
export const requestContext = (requestId: string, address: string, userAgent: string | null): RequestContext => ({
  requestId,
  clientAddress: address === "" ? null : address,
  clientNetwork: address === "" ? null : addressBucket(address),
  ...(userAgent === null ? {} : { userAgent: userAgent.slice(0, USER_AGENT_LENGTH_MAX) }),
});
