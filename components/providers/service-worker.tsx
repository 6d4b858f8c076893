"use client";

import { useEffect } from "react";

const register = (): void => {
  // Only the offline page and push messages need the worker, so a failure is not shown.
  void navigator.serviceWorker
    .register("/sw.js", { updateViaCache: "none" })
    .catch(() => undefined);
};

/** Registers the service worker once the page has loaded and the browser is idle. */
export const ServiceWorker = (): null => {
  useEffect(() => {
    if (!("serviceWorker" in navigator)) return;
    const whenIdle = (): void => {
      if ("requestIdleCallback" in window) requestIdleCallback(register);
      else register();
    };
    if (document.readyState === "complete") whenIdle();
    else window.addEventListener("load", whenIdle, { once: true });
  }, []);
  return null;
};
