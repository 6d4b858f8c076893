// Starts the API reference inside its frame: theme and fonts of the page around it, and requests as the signed-in person.
/* global document, window, Headers, Request, MutationObserver, getComputedStyle, Scalar */
(() => {
  const { nonce, dataset } = document.currentScript;
  const outer = window.parent.document;
  /** The chosen project, in the cookie that lib/core/browser-cookies.ts names. Anything that is no id counts as no choice. */
  const PROJECT_COOKIE = /(?:^|; )causeway\.project=(prj_[\da-f-]{36})(?:;|$)/;
  /** The service renews an access token in its last 5 minutes, so each answer is good for longer than this. */
  const TOKEN_KEPT_MS = 240_000;

  // The renderer inserts style elements; the content security policy wants the nonce on each.
  const createElement = document.createElement.bind(document);
  document.createElement = (name, options) => {
    const element = createElement(name, options);
    if (String(name).toLowerCase() === "style") element.nonce = nonce;
    return element;
  };

  const addStyle = (text) => {
    const style = document.createElement("style");
    style.textContent = text;
    document.head.append(style);
    return style;
  };

  const withAbsoluteUrls = (rule, base) =>
    rule.cssText.replace(/url\("([^"]+)"\)/g, (_, path) => `url("${new URL(path, base).href}")`);

  const copyFonts = () => {
    const rules = [...outer.styleSheets]
      .filter(({ href }) => href !== null)
      .flatMap((sheet) => [...sheet.cssRules].map((rule) => ({ rule, base: sheet.href })));
    const fonts = rules.filter(({ rule }) => rule.cssText.startsWith("@font-face"));
    addStyle(fonts.map(({ rule, base }) => withAbsoluteUrls(rule, base)).join("\n"));
  };

  /** The renderer's variables, and the variables of app/globals.css that they take their values from. */
  const COLORS = {
    "--scalar-background-1": "--surface",
    "--scalar-background-2": "--bg",
    "--scalar-background-3": "--sunken",
    "--scalar-background-accent": "--accent-tint",
    "--scalar-border-color": "--border",
    "--scalar-color-1": "--text-1",
    "--scalar-color-2": "--text-2",
    "--scalar-color-3": "--text-3",
    "--scalar-color-accent": "--accent",
    "--scalar-color-green": "--success",
    "--scalar-color-red": "--danger",
    "--scalar-color-yellow": "--warning",
    "--scalar-color-orange": "--warning",
    "--scalar-color-blue": "--info",
    "--scalar-color-purple": "--accent",
    "--scalar-button-1": "--accent",
    "--scalar-button-1-color": "--on-accent",
    "--scalar-button-1-hover": "--accent",
    "--scalar-sidebar-background-1": "--surface",
    "--scalar-sidebar-border-color": "--border",
    "--scalar-sidebar-color-1": "--text-1",
    "--scalar-sidebar-color-2": "--text-2",
    "--scalar-sidebar-color-active": "--accent",
    "--scalar-sidebar-item-active-background": "--accent-tint",
    "--scalar-sidebar-item-hover-background": "--sunken",
    "--scalar-sidebar-search-background": "--surface",
    "--scalar-sidebar-search-border-color": "--control",
    "--scalar-sidebar-search-color": "--text-3",
  };
  const FIXED =
    '--scalar-font:"IBM Plex Sans",sans-serif;--scalar-font-code:"IBM Plex Mono",monospace;--scalar-radius:4px;--scalar-radius-lg:6px;--scalar-radius-xl:8px;';

  const theme = addStyle("");
  const isDark = () => outer.documentElement.classList.contains("dark");
  const applyTheme = () => {
    const values = getComputedStyle(outer.documentElement);
    const colors = Object.entries(COLORS).map(([name, from]) => `${name}:${values.getPropertyValue(from)};`);
    theme.textContent = `body.light-mode,body.dark-mode{${colors.join("")}${FIXED}background:${values.getPropertyValue("--surface")}}`;
    document.body.classList.toggle("dark-mode", isDark());
    document.body.classList.toggle("light-mode", !isDark());
  };

  const readSession = async () => {
    const response = await fetch("/api/auth/session", { cache: "no-store" });
    return response.ok ? ((await response.json()).accessToken ?? "") : "";
  };

  /** Requests of the renderer name the chosen project, and carry the newest token where they carry the one that was filled in. */
  const sendAsPerson = (filledIn) => {
    let token = filledIn;
    let readAt = performance.now();
    const send = window.fetch.bind(window);
    window.fetch = async (input, init) => {
      const request = new Request(input, init);
      const { origin, pathname } = new URL(request.url);
      if (origin !== window.location.origin || !pathname.startsWith("/api/")) return send(request);
      const headers = new Headers(request.headers);
      if (filledIn !== "" && headers.get("authorization") === `Bearer ${filledIn}`) {
        if (performance.now() - readAt > TOKEN_KEPT_MS) {
          token = (await readSession()) || token;
          readAt = performance.now();
        }
        headers.set("authorization", `Bearer ${token}`);
        const project = PROJECT_COOKIE.exec(document.cookie)?.[1];
        if (project !== undefined && (headers.get("x-project-id") ?? "") === "") headers.set("x-project-id", project);
      }
      return send(new Request(request, { headers }));
    };
  };

  const loadRenderer = () =>
    new Promise((done, fail) => {
      const script = document.createElement("script");
      script.src = dataset.renderer;
      script.addEventListener("load", done);
      script.addEventListener("error", () => fail(new Error("The script of the API reference did not load.")));
      document.head.append(script);
    });

  const start = async () => {
    copyFonts();
    applyTheme();
    const [token] = await Promise.all([readSession(), loadRenderer()]);
    sendAsPerson(token);
    Scalar.createApiReference("#reference", {
      url: "/api/openapi.json",
      theme: "none",
      layout: "modern",
      withDefaultFonts: false,
      telemetry: false,
      persistAuth: false,
      hideClientButton: true,
      hideDarkModeToggle: true,
      showDeveloperTools: "never",
      documentDownloadType: "none",
      darkMode: isDark(),
      forceDarkModeState: isDark() ? "dark" : "light",
      authentication: { preferredSecurityScheme: "bearer", securitySchemes: { bearer: { token } } },
    });
    applyTheme();
    const watcher = new MutationObserver(applyTheme);
    watcher.observe(outer.documentElement, { attributes: true, attributeFilter: ["class"] });
  };

  start().catch((error) => {
    document.body.textContent = `${error.message} Reload the page.`;
  });
})();
