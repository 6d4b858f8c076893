/** Where a request came from: for limits and for the record. */
export interface RequestContext {
  readonly requestId: string;
  /** IP address of the caller behind the trusted proxies; null when it is not known. */
  readonly clientAddress: string | null;
  /** The unit of limits by address: an IPv4 address, or the /64 of an IPv6 customer. Null when it is not known. */
  readonly clientNetwork: string | null;
}
