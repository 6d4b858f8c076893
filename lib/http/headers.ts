/** Content policy of the API's answers: they are data, which no browser may render or frame. */
export const API_CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** Only where the app is served over https. */
export const STRICT_TRANSPORT = "max-age=31536000; includeSubDomains";

/** Headers of the few answers that do not come from `route()`. */
export const API_HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "content-security-policy": API_CONTENT_POLICY,
} as const;

const WALLET_CONNECT = {
  connect:
    "https://*.walletconnect.com wss://*.walletconnect.com https://*.walletconnect.org wss://*.walletconnect.org https://api.web3modal.org",
  frame: "https://verify.walletconnect.com https://verify.walletconnect.org",
};

interface PageHeaderOptions {
  readonly publicUrl: string;
  /** Only the origins of their public RPC URLs are named: the service's own URLs stay private. */
  readonly chains: readonly { readonly publicRpcUrl?: string | undefined }[];
  readonly walletConnect: boolean;
}

const originOf = (url: string): string => new URL(url).origin;

/**
 * On every page. Next puts its data into inline scripts, and wallets' components into inline styles, so both are allowed inline;
 * everything else comes from here, from the chains' RPC endpoints, or (where it is configured) from WalletConnect.
 */
export const pageHeaders = ({ publicUrl, chains, walletConnect }: PageHeaderOptions): Record<string, string> => {
  const origins = [
    ...new Set(chains.flatMap(({ publicRpcUrl }) => (publicRpcUrl === undefined ? [] : originOf(publicRpcUrl)))),
  ];
  const connect = ["'self'", ...origins, ...(walletConnect ? [WALLET_CONNECT.connect] : [])].join(" ");
  const policy = [
    "default-src 'self'",
    "script-src 'self' 'unsafe-inline'",
    "style-src 'self' 'unsafe-inline'",
    `img-src 'self' data: blob:${walletConnect ? " https:" : ""}`,
    "font-src 'self' data:",
    `connect-src ${connect}`,
    `frame-src 'self'${walletConnect ? ` ${WALLET_CONNECT.frame}` : ""}`,
    "frame-ancestors 'none'",
    "base-uri 'self'",
    "form-action 'self'",
    "object-src 'none'",
  ];
  return {
    "content-security-policy": policy.join("; "),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "strict-origin-when-cross-origin",
    ...(publicUrl.startsWith("https:") ? { "strict-transport-security": STRICT_TRANSPORT } : {}),
  };
};
