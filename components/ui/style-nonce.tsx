"use client";

import { createContext, useContext, useState, type ReactNode } from "react";

const StyleNonceContext = createContext<string | undefined>(undefined);

/**
 * Sets the global from which react-remove-scroll, a library of the dialogs, reads the nonce for its
 * style elements.
 */
const rememberForStyleElements = (nonce: string): void => {
  (globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = nonce;
};

/**
 * The nonce of the document. A later rendering of the layout has another nonce, which the
 * document's policy does not allow, so the first one is kept.
 */
export const useDocumentNonce = (nonce: string | null): string | undefined => {
  const [first] = useState(() => {
    // The server does not set the global, because one process renders many documents there.
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
 * The nonce as properties for a component that renders a style element, which the page's security
 * policy blocks without it.
 * @example <Viewport {...useStyleNonce()} />
 */
export const useStyleNonce = (): { readonly nonce?: string } => {
  const nonce = useContext(StyleNonceContext);
  return nonce === undefined ? {} : { nonce };
};
