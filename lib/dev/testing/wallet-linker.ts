import type { TestApi, TestSession } from "./api";
import type { testAccount } from "./factories";

export const INIT = "/wallets/link/init";
export const VERIFY = "/wallets/link/verify";
export const LIST = "/wallets/link";

export type Headers = Readonly<Record<string, string>>;
export type Body = Record<string, unknown>;

type Wallet = Pick<ReturnType<typeof testAccount>, "address" | "signMessage">;

/** Returns functions for the steps by which people link and unlink wallets. */
export const walletLinker = (api: TestApi) => {
  const send = async (method: string, path: string, headers: Headers = {}, body?: unknown) => {
    const response = await api.fetch(path, {
      method,
      headers: { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const json = (await response.json()) as Body & { code?: string };
    return { status: response.status, code: json.code, body: json };
  };

  /** A signed-in person, who may have more projects than the first. */
  const person = async (session?: TestSession) => {
    const { accessToken, account } = session ?? (await api.signIn());
    const as = (extra: Headers = {}) => {
      const headers = { authorization: `Bearer ${accessToken}`, ...extra };
      return {
        headers,
        init: (body: Body) => send("POST", INIT, headers, body),
        verify: (body: Body) => send("POST", VERIFY, headers, body),
        list: async () => (await send("GET", LIST, headers)).body.data as Body[],
        wallets: async () => (await send("GET", "/wallets", headers)).body.data as Body[],
        unlink: (address: string) => send("DELETE", `${LIST}/${address}`, headers),
      };
    };
    return { ...as(), as, account };
  };

  /** Requests a message and signs it. @returns the body for verify */
  const signed = async (
    who: Pick<Awaited<ReturnType<typeof person>>, "init">,
    wallet: Wallet,
    chainId?: number,
  ) => {
    const { body } = await who.init({
      address: wallet.address,
      ...(chainId === undefined ? {} : { chainId }),
    });
    const { message, nonce } = body as { message: string; nonce: string };
    return {
      address: wallet.address,
      signature: await wallet.signMessage({ message }),
      message,
      nonce,
    };
  };

  const linked = async (who: Awaited<ReturnType<typeof person>>, wallet: Wallet) => {
    const { address, signature } = await signed(who, wallet);
    return who.verify({ address, signature });
  };

  return { send, person, signed, linked };
};
