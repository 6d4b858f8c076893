"use client";

import { createContext, useContext, useState, type ReactNode } from "react";

const StyleNonceContext = createContext<string | undefined>(undefined);

/** The name under which react-remove-scroll, which dialogs use, looks for the nonce of its style elements. */
const rememberForStyleElements = (nonce: string): void => {
  (globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = nonce;
};

/**
 * The nonce of the document. A later render of the layout carries another one, which the document's policy does not name, so the
 * first one is kept.
 */
export const useDocumentNonce = (nonce: string | null): string | undefined => {
  const [first] = useState(() => {
    // The server renders for many documents in one process, so nothing is global there.
    if (nonce !== null && typeof window !== "undefined") rememberForStyleElements(nonce);
    return nonce ?? undefined;
  });
  return first;
};

interface ProviderProps {
  readonly nonce: string | undefined;
  readonly children: ReactNode;
}

export const StyleNonceProvider = ({ nonce, children }: ProviderProps): ReactNode => (
  <StyleNonceContext.Provider value={nonce}>{children}</StyleNonceContext.Provider>
);

/**
 * The nonce that a style element needs, as properties for the component that renders one. The page's security policy blocks styles without it.
 * @example <Viewport {...useStyleNonce()} />
 */
export const useStyleNonce = (): { readonly nonce?: string } => {
  const nonce = useContext(StyleNonceContext);
  return nonce === undefined ? {} : { nonce };
};
