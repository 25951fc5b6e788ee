// Curator's InterProcessMutex: acquires and releases distinct resources with a given number in
// flight, like lock_client; or takes turns on one resource, like turn_client. Prints the figures as
// one line of JSON.
//
// Settings: a thread for each lock in flight; one client and one session for all of them. With
// --turns: --sessions clients in this one process, each with a session and a thread, so that eight
// contenders do not mean eight virtual machines. Each hold has the number of its session.

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryNTimes;

public final class CuratorLock {
    private static final class Worker {
        final List<Double> acquire = new ArrayList<>(), cycle = new ArrayList<>();
        long locks = 0;
    }

    private static volatile boolean counting = false, stopping = false;

    private static double cpuSeconds() {
        var system = ManagementFactory.getOperatingSystemMXBean();
        return ((com.sun.management.OperatingSystemMXBean) system).getProcessCpuTime() / 1e9;
    }

    private static CuratorFramework connect(String node) throws Exception {
        CuratorFramework client =
            CuratorFrameworkFactory.newClient(node.split("/")[2], new RetryNTimes(3, 100));
        client.start();
        client.blockUntilConnected();
        return client;
    }

    private static void work(CuratorFramework client, String name, boolean latency, Worker all) {
        InterProcessMutex mutex = new InterProcessMutex(client, "/bench/" + name);
        try {
            while (!stopping) {
                long asked = System.nanoTime();
                mutex.acquire();
                long acquired = System.nanoTime();
                mutex.release();
                if (!counting)
                    continue;
                ++all.locks;
                if (latency) {
                    all.acquire.add((acquired - asked) / 1e3);
                    all.cycle.add((System.nanoTime() - asked) / 1e3);
                }
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static String quantiles(String name, List<Double> values) {
        if (values.isEmpty())
            return "";
        double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        StringBuilder text = new StringBuilder();
        String[] suffixes = {"p50", "p99", "max"};
        double[] parts = {0.5, 0.99, 1};
        for (int i = 0; i < parts.length; ++i)
            text.append(", \"").append(name).append('_').append(suffixes[i]).append("\": ")
                .append(sorted[(int) (parts[i] * (sorted.length - 1))]);
        return text.toString();
    }

    private static String load(String node, int concurrency, long warmUp, long length,
        boolean latency) throws Exception {
        CuratorFramework client = connect(node);
        List<Worker> workers = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < concurrency; ++i) {
            String name = "curator:" + i;
            Worker each = new Worker();
            workers.add(each);
            threads.add(new Thread(() -> work(client, name, latency, each)));
        }
        for (Thread each : threads)
            each.start();
        Thread.sleep(warmUp);
        double cpu = cpuSeconds();
        long begin = System.nanoTime();
        counting = true;
        Thread.sleep(length);
        counting = false;
        cpu = cpuSeconds() - cpu;
        double seconds = (System.nanoTime() - begin) / 1e9;
        stopping = true;
        for (Thread each : threads)
            each.join();
        client.close();
        Worker all = new Worker();
        for (Worker each : workers) {
            all.locks += each.locks;
            all.acquire.addAll(each.acquire);
            all.cycle.addAll(each.cycle);
        }
        return "{\"locks\": " + all.locks + ", \"seconds\": " + seconds
            + ", \"cpu_seconds\": " + cpu + quantiles("acquire_us", all.acquire)
            + quantiles("cycle_us", all.cycle) + "}";
    }

    private static long nanosecondsNow() {
        java.time.Instant now = java.time.Instant.now();
        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }

    // Until two seconds before `begin` each session takes a lock of its own again and again: the
    // virtual machine compiles the code meanwhile.
    private static void turns(CuratorFramework client, String name, int session, long begin,
        long length, long holdUs, List<String> holds) {
        try {
            InterProcessMutex own = new InterProcessMutex(client, "/bench/" + name + ":" + session);
            do {
                own.acquire();
                own.release();
            } while (System.currentTimeMillis() < begin - 2000);
            long rest = begin - System.currentTimeMillis();
            if (rest < 0)
                throw new IllegalStateException("was connected only after --begin");
            Thread.sleep(rest);
            InterProcessMutex mutex = new InterProcessMutex(client, "/bench/" + name);
            while (System.currentTimeMillis() < begin + length) {
                mutex.acquire();
                long from = nanosecondsNow();
                if (holdUs > 0)
                    TimeUnit.MICROSECONDS.sleep(holdUs);
                holds.add("[" + from + ", " + nanosecondsNow() + ", " + session + "]");
                mutex.release();
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static String takeTurns(String node, int sessions, String name, long begin, long length,
        long holdUs) throws Exception {
        List<List<String>> holds = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        List<CuratorFramework> clients = new ArrayList<>();
        for (int i = 0; i < sessions; ++i) {
            int session = i;
            CuratorFramework client = connect(node);
            clients.add(client);
            List<String> own = new ArrayList<>();
            holds.add(own);
            threads.add(new Thread(() -> turns(client, name, session, begin, length, holdUs, own)));
        }
        double cpu = cpuSeconds();
        for (Thread each : threads)
            each.start();
        for (Thread each : threads)
            each.join();
        cpu = cpuSeconds() - cpu;
        for (CuratorFramework each : clients)
            each.close();
        List<String> all = new ArrayList<>();
        holds.forEach(all::addAll);
        return "{\"cpu_seconds\": " + cpu + ", \"holds\": [" + String.join(", ", all) + "]}";
    }

    public static void main(String[] arguments) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> {
            System.err.println("CuratorLock: " + e);
            System.exit(2);
        });
        Map<String, String> given = new HashMap<>();
        for (String each : Arrays.asList(arguments)) {
            String[] parts = each.split("=", 2);
            given.put(parts[0], parts.length == 2 ? parts[1] : "");
        }
        String node = given.get("--node");
        long length = Long.parseLong(given.getOrDefault("--length", "1000"));
        if (given.containsKey("--turns"))
            System.out.println(takeTurns(node,
                Integer.parseInt(given.getOrDefault("--sessions", "1")),
                given.getOrDefault("--resource", "bench:turns"),
                Long.parseLong(given.getOrDefault("--begin", "0")), length,
                Long.parseLong(given.getOrDefault("--hold", "0"))));
        else
            System.out.println(load(node,
                Integer.parseInt(given.getOrDefault("--concurrency", "256")),
                Long.parseLong(given.getOrDefault("--warm-up", "200")), length,
                given.containsKey("--latency")));
    }
}
