/** Where a request came from: for limits and for the record. */
export interface RequestContext {
  readonly requestId: string;
  /** IP address of the caller, proxies of ours already taken off; null where it is not known. */
  readonly clientAddress: string | null;
  /** What shares one limit by address: an IPv4 address, or the /64 that one IPv6 customer has. Null where it is not known. */
  readonly clientNetwork: string | null;
}
