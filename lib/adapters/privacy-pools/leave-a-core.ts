import os from "node:os";

// The proving library starts a thread per processor and has no option for fewer, so this file
// reports one processor less, which stays free for requests: on two processors a request took 1.8
// times as long during a proof that used both.
const processors = os.cpus();
os.cpus = () => processors.slice(0, Math.max(1, processors.length - 1));
