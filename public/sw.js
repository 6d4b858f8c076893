// The service worker. It shows a page of its own when the network is gone, and shows push messages.
// It stores the files of that page only: no page with data and no answer of the API.
const CACHE = "causeway-offline-1";
const OFFLINE_PAGE = "/offline.html";
const FILES = [OFFLINE_PAGE, "/offline.css", "/icon.svg"];

self.addEventListener("install", (event) => {
  const store = async () => {
    const cache = await caches.open(CACHE);
    await cache.addAll(FILES.map((file) => new Request(file, { cache: "reload" })));
    await self.skipWaiting();
  };
  event.waitUntil(store());
});

self.addEventListener("activate", (event) => {
  const start = async () => {
    const names = await caches.keys();
    await Promise.all(names.filter((name) => name !== CACHE).map((name) => caches.delete(name)));
    // The request starts while the worker does, so a navigation is not slower with a worker.
    await self.registration.navigationPreload?.enable();
    await self.clients.claim();
  };
  event.waitUntil(start());
});

const stored = async (path) => (await caches.match(path)) ?? Response.error();

const navigate = async (event) => {
  try {
    return (await event.preloadResponse) ?? (await fetch(event.request));
  } catch {
    return stored(OFFLINE_PAGE);
  }
};

const loadFile = async (request, path) => {
  try {
    return await fetch(request);
  } catch {
    return stored(path);
  }
};

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  if (request.mode === "navigate") {
    event.respondWith(navigate(event));
    return;
  }
  const { origin, pathname } = new URL(request.url);
  // Other requests go to the network as if there were no worker.
  if (origin === self.location.origin && FILES.includes(pathname))
    event.respondWith(loadFile(request, pathname));
});

const readMessage = (data) => {
  try {
    const { title, path } = data.json();
    if (typeof title === "string" && typeof path === "string" && path.startsWith("/"))
      return { title, path };
  } catch {
    // A message of another form is shown without its text.
  }
  return { title: "Something waits for you", path: "/notifications" };
};

self.addEventListener("push", (event) => {
  const { title, path } = readMessage(event.data);
  event.waitUntil(
    self.registration.showNotification(title, {
      body: "Causeway",
      icon: "/icons/icon-192.png",
      badge: "/icons/badge-96.png",
      tag: path,
      data: { path },
    }),
  );
});

const openPath = async (path) => {
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const [open] = windows;
  if (open === undefined) {
    await self.clients.openWindow(path);
    return;
  }
  await open.focus();
  await open.navigate(path);
};

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(openPath(event.notification.data?.path ?? "/notifications"));
});
