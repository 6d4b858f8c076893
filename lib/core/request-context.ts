/** The origin of a request, for rate limits and for the audit log. */
export interface RequestContext {
  readonly requestId: string;
  /** IP address of the caller behind the trusted proxies; null when it is not known. */
  readonly clientAddress: string | null;
  /** Rate limits by address count per network: an IPv4 address, or the /64 prefix of an IPv6 address. Null when it is not known. */
  readonly clientNetwork: string | null;
  /** The program that called, as it names itself; 300 characters at most. Absent where it is not known. */
  readonly userAgent?: string;
}
