/** A path of this app to go to after sign-in; anything that could lead elsewhere becomes the overview. */
export const safePath = (text: string | undefined): string => {
  if (text === undefined || !text.startsWith("/")) return "/";
  const url = new URL(text, "http://localhost");
  return url.origin === "http://localhost" && !url.pathname.startsWith("/sign-in") ? url.pathname + url.search : "/";
};
