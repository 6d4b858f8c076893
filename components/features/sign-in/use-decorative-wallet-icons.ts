"use client";

import { useEffect } from "react";

const UNNAMED_ICONS = "[data-rk] [role=img]:not([aria-label])";

/**
 * RainbowKit gives the icons of its wallets the role of an image, but no name. The name of the wallet stands beside each, so they
 * are decoration and are marked as such when its dialog appears.
 */
export const useDecorativeWalletIcons = (): void => {
  useEffect(() => {
    const mark = (): void => {
      for (const icon of document.querySelectorAll(UNNAMED_ICONS)) icon.setAttribute("role", "presentation");
    };
    const observer = new MutationObserver(mark);
    observer.observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["role"] });
    mark();
    return () => observer.disconnect();
  }, []);
};
